// The rules of the game and its words, in three languages: [heading, paragraphs].

export const RULES = {
  en: [
    ["Aim", ["Each player has 15 men. Yours are light and run from point 24 down to point 1; the bot's run the other way. Who first bears off all his men wins."]],
    ["Moving", ["Both dice are played, one man for each or one man twice. A double is played four times. A man may go to a point that is empty, has men of yours, or has a single man of the bot (a blot).", "As many dice as possible must be played. If only one of two can be, it must be the larger."]],
    ["Hitting and entering", ["A man that comes to a blot hits it: it goes to the bar and must enter in the opponent's home before anything else of that side moves.", "A turn without a legal move is announced and logged."]],
    ["Bearing off", ["With all your men in your home board (points 1 to 6) you bear them off. A die larger than needed takes the rearmost man."]],
    ["Who starts", ["Each side rolls one die, yours is the left one; the higher starts and plays both dice. Ties are rolled again."]],
    ["What a game counts", ["Single win 1 point; gammon (the loser has borne off nothing) 2; backgammon (and has a man on the bar or in the winner's home) 3; all times the cube."]],
    ["Doubling cube", ["Before rolling, a player may double. The other takes, owns the cube and alone may double next, or drops and loses what the cube was worth. A rule of thumb: take with more than 25 % to win; double from 50 % on when you may soon lose your market.", "Crawford rule: in the first game after a player comes to one point from winning the match, nobody doubles. Jacoby rule (single games): gammons count only once the cube has been turned."]],
    ["Fair dice", ["Before the first roll you see the SHA-256 hash of the seed, and the seed when the game is over. Every roll follows from the seed, the game and the number of the roll; the page checks this for you. The bot chooses its move without seeing coming dice."]],
    ["Words", ["Point, bar, blot (a single man), hit, anchor (a point held in the opponent's home), prime (points in a row), home and outer board, mid-point (13), bar point (7), pip count (steps still to go), race (no more contact), enter, bear off, double, take, drop."]],
  ],
  "zh-Hans": [
    ["目标", ["双方各有 15 枚棋子。你的浅色棋子从 24 点走向 1 点，机器人的相反。先把全部棋子移出的一方获胜。"]],
    ["走子", ["两颗骰子都要走：两枚棋子各走一颗，或同一枚走两颗。双点走四次。可以走到空的点位、有自己棋子的点位，或对方只有一枚棋子（落单）的点位。", "必须尽量多用骰子；两颗只能走一颗时，必须走大的。"]],
    ["打击与进场", ["走到对方落单的棋子上就是打击：它被放到吧台，必须先在对方内盘进场，才能走别的棋子。", "没有能走的棋时会提示并记入棋谱。"]],
    ["移出", ["全部棋子进入自己的内盘（1 至 6 点）后可以移出。骰子比需要的大时，移出最远的棋子。"]],
    ["谁先走", ["双方各掷一颗骰子，左边是你的；点数大的先走，并使用这两颗骰子。相同则重掷。"]],
    ["计分", ["单胜 1 分；全胜（输家一枚未移出）2 分；大胜（并且还有棋子在吧台或赢家内盘）3 分；都乘以加倍骰。"]],
    ["加倍骰", ["掷骰之前可以加倍。对方接受则拥有加倍骰，此后只有他可以加倍；认输则输掉加倍前的分数。经验：胜率高于 25% 就接受；50% 以上并且快要错过时机就加倍。", "克劳福德规则：有一方首次差 1 分获胜后的那一局不能加倍。雅可比规则（单局）：加倍骰动过之后，全胜和大胜才算数。"]],
    ["公平的骰子", ["第一次掷骰之前公布种子的 SHA-256 哈希，终局时公布种子。每次掷骰都由种子、局和次序决定，页面会替你核对。机器人走棋时看不到将来的骰子。"]],
    ["术语", ["点位、吧台、落单、打击、锚（在对方内盘占住的点位）、连续点、内盘与外盘、中点（13）、7 点、pip 数（还要走的步数）、跑棋（不再接触）、进场、移出、加倍、接受、认输。"]],
  ],
  "zh-Hant": [
    ["目標", ["雙方各有 15 枚棋子。你的淺色棋子從 24 點走向 1 點，機器人的相反。先把全部棋子移離棋盤的一方獲勝。"]],
    ["走子", ["兩顆骰子都要走：兩枚棋子各走一顆，或同一枚走兩顆。雙點走四次。可以走到空的點、有自己棋子的點，或對方只有一枚棋子（弱棋）的點。", "必須盡量多用骰子；兩顆只能走一顆時，必須走大的。"]],
    ["攻擊與進場", ["走到對方的弱棋上就是攻擊：它被放到分界，必須先在對方內盤進場，才能走別的棋子。", "沒有能走的棋時會提示並記入棋譜。"]],
    ["移離棋盤", ["全部棋子進入自己的內盤（主盤，1 至 6 點）後可以移離棋盤。骰子比需要的大時，移走最遠的棋子。"]],
    ["誰先走", ["雙方各擲一顆骰子，左邊是你的；點數大的先走，並使用這兩顆骰子。相同則重擲。"]],
    ["計分", ["單勝 1 分；全勝（家樂，輸家一枚未移走）2 分；完勝（百家樂，並且還有棋子在分界或贏家內盤）3 分；都乘以倍數方塊。"]],
    ["倍數方塊", ["擲骰之前可以加倍。對方接受則擁有倍數方塊，此後只有他可以加倍；認輸則輸掉加倍前的分數。經驗：勝率高於 25% 就接受；50% 以上並且快要錯過時機就加倍。", "克羅福規則：有一方首次差 1 分獲勝後的那一局不能加倍。雅可比規則（單局）：倍數方塊動過之後，全勝和完勝才算數。"]],
    ["公平的骰子", ["第一次擲骰之前公布種子的 SHA-256 雜湊，終局時公布種子。每次擲骰都由種子、局和次序決定，頁面會替你核對。機器人走棋時看不到將來的骰子。"]],
    ["術語", ["點、分界、弱棋、攻擊、錨（在對方內盤佔住的點）、連續點、內盤與外盤、中點（13）、臨界點（7）、總點數（還要走的步數）、跑棋（不再接觸）、進場、移離棋盤、加倍、接受、認輸。"]],
  ],
};
