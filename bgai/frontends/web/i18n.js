// Every sentence of the page in three languages, and the choice between them. Knows nothing of the game.

const EN = {
  title: "bgai backgammon", language: "Language", rules: "Rules and terms", rulesTitle: "Rules and terms", close: "Close",
  lobbyTitle: "A game of backgammon", continueTitle: "Continue the last unfinished game", continue: "Continue", lastTitle: "The last game", lookAgain: "Look at it again",
  continueText: "{bot} · {kind} · score {mine}–{theirs} · game {game}",
  opponent: "Opponent", beginner: "Beginner", normal: "Normal", strong: "Strong",
  beginnerCard: "Has just learned: hits a lot and often leaves blots. Good for a first game.",
  normalCard: "Makes points, primes and anchors, and defends; shows what good structure looks like, but is often inexact.",
  strongCard: "The end of the whole training: patient and exact. Every mistake of yours costs something.",
  cardGames: "Learned from {games} games against itself; {points} points per game against Strong.",
  cardGamesStrong: "Learned from {games} games against itself.",
  kind: "What is played", single: "Single game", match5: "5-point match", match7: "7-point match",
  pace: "Pace", calm: "Calm", quick: "Quick", instant: "Instant",
  settings: "Settings", cube: "Doubling cube", cubeNote: "Crawford rule in matches, Jacoby rule in single games",
  showNumbers: "Show point numbers", showPips: "Show pip counts", start: "Start",
  lockedNote: "Opponent and rules stay as they are until the game is over. Both sides roll one die to see who starts; ties are rolled again.",
  you: "You", pips: "{n} pips", game: "Game {n}", toPoints: "to {n}", crawford: "Crawford game", jacoby: "Jacoby", noCube: "no cube",
  roll: "Roll", double: "Double", confirm: "Confirm", undo: "Undo", hint: "Hint", retry: "Try again", nextGame: "Next game", again: "New game", anotherMatch: "New match", toLobby: "Lobby", resign: "Resign", restart: "Restart",
  record: "Moves", diceTitle: "Dice", backToGame: "Back to the game", lookingBack: "Looking back: move {n} of {all}", earlier: "Earlier", later: "Later",
  lookingAtError: "Error {n} of {all}:", earlierError: "Previous error", laterError: "Next error", backToErrors: "Back to the list",
  throwOpening: "Roll one die each: the higher starts.", throwButton: "Roll to start",
  tie: "Both rolled {n}: again.", youStart: "You rolled {mine}, {bot} {theirs}: you start.", botStarts: "You rolled {mine}, {bot} {theirs}: {bot} starts.",
  yourRoll: "Your turn: roll.", yourRollOrDouble: "Your turn: roll or double.", yourPlay: "You rolled {dice}. Choose a man.", chooseTarget: "Choose where it goes.", mayConfirm: "Confirm your move, or undo it.",
  botRolls: "{bot} rolls …", botRolled: "{bot} rolled {dice}.", botThinks: "{bot} is thinking …", botPlayed: "{bot} plays {play}.",
  noMove: "no legal move", youNoMove: "You rolled {dice}: no legal move.", botNoMove: "{bot} rolled {dice}: no legal move.",
  notThere: "That man cannot go there.", notThat: "None of your men can move from there now.",
  youDoubled: "You double to {n}.", botTakes: "{bot} takes.", botDrops: "{bot} drops.",
  botDoubles: "{bot} doubles to {n}. Take and own the cube, or drop and lose {m}?", take: "Take", drop: "Drop",
  askDouble: "Double to {n}?", askDoubleText: "{bot} may take, and then owns the cube, or drop and lose {m}.", yesDouble: "Double", cancel: "Cancel",
  askResign: "Resign?", askResignText: "What do you offer to lose? {bot} may decline.", resign1: "Single game ({n})", resign2: "Gammon ({n})", resign3: "Backgammon ({n})",
  declined: "{bot} declines: play on.", accepted: "{bot} accepts.",
  askRestart: "Start over?", askRestartText: "This game is discarded and does not count; a new one with the same settings begins.", yesRestart: "Discard and restart",
  askLeave: "Leave the game?", askLeaveText: "It is saved in this browser as it stands, with score and game number; the lobby offers to continue it.", yesLeave: "Leave", stay: "Stay",
  askNew: "Begin a new game?", askNewText: "The unfinished game is discarded.", yesNew: "Begin",
  win: "You win", lose: "{bot} wins", kind1: "Single game", kind2: "Gammon", kind3: "Backgammon", resultText: "{kind}: {points}.", resultCube: "{kind}, cube {cube}: {points}.", resultResigned: "You resigned: {points}.", resultDropped: "The double was dropped: {points}.", points1: "1 point", pointsN: "{n} points",
  score: "Score {mine}–{theirs}.", matchWon: "You win the match", matchLost: "{bot} wins the match", review: "Review my errors", showBoard: "Look at the board",
  reviewTitle: "Your errors in this game", reviewNone: "No error worth mentioning. Well played!", reviewText: "Measured by Strong: your error rate (PR) {mine}, {bot} {theirs}. Luck: you {myLuck}, {bot} {theirLuck}.", reviewItem: "{dice} {made} — better: {best} (−{loss})", reviewWait: "Looking at every decision …", prNone: "–",
  hintTitle: "Best plays according to Strong", hintEquity: "{equity} · win {win}", hintRoll: "Strong would roll on ({a} against {b} for a double).", hintDouble: "Strong would double ({b} against {a} without).", hintTooGood: "Strong would play on for a gammon ({a}).", hintTake: "Strong would take", hintDrop: "Strong would drop", hintWin: "You win", hintWait: "Strong is thinking …",
  promise: "Promised before the first roll (SHA-256):", diceText: "{n} rolls, {d} doubles. The bot chooses its move without seeing coming dice.", histogram: "How often each number was rolled. You: {mine}. {bot}: {theirs}.",
  proofOk: "Checked: the hash and all {n} throws of this game follow from the seed.", proofBad: "The dice do not follow from the seed!", seed: "Seed text:",
  doubles: "doubles to {n}", takes: "takes", drops: "drops", resigns: "resigns", opening: "start {a}–{b}", openingTie: "{a}–{b}: rolled again", declines: "declines", accepts: "accepts", endOfGame: "end of the game",
  ariaBoard: "Backgammon board", ariaPoint: "Point {n}: {men}", ariaBar: "Bar: {mine} of yours, {theirs} of {bot}", ariaOff: "Borne off: {mine} of yours", ariaTheirOff: "Borne off: {n} of {bot}", ariaDice: "Dice: {dice}", ariaNoDice: "Dice", ariaCube: "Doubling cube at {n}, {owner}", cubeMine: "yours", cubeTheirs: "of {bot}", cubeMiddle: "in the middle",
  noDouble: "no double", tooGood: "too good to double", men: "{n} of yours", menTheirs: "{n} of {bot}", empty: "empty", canMove: "can move", canGo: "can go here", chosen: "chosen",
  offline: "The server does not answer. Your game is saved.", damaged: "The saved game could not be read and was left aside.", otherKey: "The key that these dice were promised under is gone, so this game cannot go on. Start a new one.", notSaved: "This browser does not save: the game is lost when you leave.", keys: "Keys: arrows go from point to point, Enter chooses, Escape cancels; R rolls, D doubles, T takes, P drops (passes), U undoes, C confirms, H hints.",
};

const HANS = {
  title: "bgai 双陆棋", language: "语言", rules: "规则与术语", rulesTitle: "规则与术语", close: "关闭",
  lobbyTitle: "来一局双陆棋", continueTitle: "继续上次没打完的对局", continue: "继续", lastTitle: "上一局", lookAgain: "再看一看",
  continueText: "{bot} · {kind} · 比分 {mine}–{theirs} · 第 {game} 局",
  opponent: "对手", beginner: "入门", normal: "普通", strong: "高手",
  beginnerCard: "刚学会下棋：爱打击，常常留下落单的棋子。适合第一局。",
  normalCard: "会占点、筑连续点、留锚，也会防守；能看到好的棋形，但常常不够精确。",
  strongCard: "训练到最后的网络：耐心而精确。你的每个失误都有代价。",
  cardGames: "自我对弈 {games} 局学成；对高手每局 {points} 分。",
  cardGamesStrong: "自我对弈 {games} 局学成。",
  kind: "赛制", single: "单局", match5: "5 分赛", match7: "7 分赛",
  pace: "节奏", calm: "从容", quick: "快速", instant: "即时",
  settings: "设置", cube: "加倍骰", cubeNote: "多分赛用克劳福德规则，单局用雅可比规则",
  showNumbers: "显示点位编号", showPips: "显示 pip 数", start: "开始",
  lockedNote: "对局中不能更换对手和规则。双方各掷一颗骰子，点数大的先走；相同则重掷。",
  you: "你", pips: "{n} pip", game: "第 {n} 局", toPoints: "{n} 分制", crawford: "克劳福德局", jacoby: "雅可比规则", noCube: "无加倍骰",
  roll: "掷骰", double: "加倍", confirm: "确认", undo: "撤回", hint: "提示", retry: "再试一次", nextGame: "下一局", again: "再来一局", anotherMatch: "再来一场", toLobby: "大厅", resign: "认输", restart: "重新开始",
  record: "棋谱", diceTitle: "骰子", backToGame: "回到对局", lookingBack: "回看：第 {n} 手，共 {all} 手", earlier: "上一手", later: "下一手",
  lookingAtError: "失误 {n}/{all}：", earlierError: "上一个失误", laterError: "下一个失误", backToErrors: "回到列表",
  throwOpening: "双方各掷一颗骰子，点数大的先走。", throwButton: "掷骰定先手",
  tie: "双方都掷出 {n}：重掷。", youStart: "你掷出 {mine}，{bot}掷出 {theirs}：你先走。", botStarts: "你掷出 {mine}，{bot}掷出 {theirs}：{bot}先走。",
  yourRoll: "轮到你：请掷骰。", yourRollOrDouble: "轮到你：掷骰或加倍。", yourPlay: "你掷出 {dice}。请选择棋子。", chooseTarget: "请选择落点。", mayConfirm: "确认这手棋，或撤回。",
  botRolls: "{bot}掷骰……", botRolled: "{bot}掷出 {dice}。", botThinks: "{bot}在思考……", botPlayed: "{bot}走 {play}。",
  noMove: "没有能走的棋", youNoMove: "你掷出 {dice}：没有能走的棋。", botNoMove: "{bot}掷出 {dice}：没有能走的棋。",
  notThere: "这枚棋子不能走到那里。", notThat: "那里现在没有你能走的棋子。",
  youDoubled: "你加倍到 {n}。", botTakes: "{bot}接受。", botDrops: "{bot}认输。",
  botDoubles: "{bot}加倍到 {n}。接受：加倍骰归你；认输：输 {m} 分。", take: "接受", drop: "认输",
  askDouble: "加倍到 {n}？", askDoubleText: "{bot}可以接受并拥有加倍骰，或者认输、输 {m} 分。", yesDouble: "加倍", cancel: "取消",
  askResign: "认输？", askResignText: "你愿意输多少？{bot}可以拒绝。", resign1: "单胜（{n}）", resign2: "全胜（{n}）", resign3: "大胜（{n}）",
  declined: "{bot}拒绝：继续对局。", accepted: "{bot}接受。",
  askRestart: "重新开始？", askRestartText: "本局作废、不计分，以同样的设置开始新的一局。", yesRestart: "作废并重新开始",
  askLeave: "离开对局？", askLeaveText: "对局连同比分和局数已保存在这个浏览器里，可以在大厅继续。", yesLeave: "离开", stay: "留下",
  askNew: "开始新的一局？", askNewText: "没打完的对局将作废。", yesNew: "开始",
  win: "你赢了", lose: "{bot}赢了", kind1: "单胜", kind2: "全胜", kind3: "大胜", resultText: "{kind}：{points}。", resultCube: "{kind}，加倍骰 {cube}：{points}。", resultResigned: "你认输：{points}。", resultDropped: "加倍后认输：{points}。", points1: "1 分", pointsN: "{n} 分",
  score: "比分 {mine}–{theirs}。", matchWon: "你赢得了整场比赛", matchLost: "{bot}赢得了整场比赛", review: "回顾我的失误", showBoard: "看棋盘",
  reviewTitle: "你在这一局里的失误", reviewNone: "没有值得一提的失误，下得好！", reviewText: "由高手衡量：你的失误率（PR）{mine}，{bot} {theirs}。运气：你 {myLuck}，{bot} {theirLuck}。", reviewItem: "{dice} {made} — 更好：{best}（−{loss}）", reviewWait: "正在查看每一个决定……", prNone: "–",
  hintTitle: "高手认为最好的走法", hintEquity: "{equity} · 胜率 {win}", hintRoll: "高手会继续掷骰（{a}，加倍只有 {b}）。", hintDouble: "高手会加倍（{b}，不加倍 {a}）。", hintTooGood: "高手会继续走，争取全胜（{a}）。", hintTake: "高手会接受", hintDrop: "高手会认输", hintWin: "你的胜率", hintWait: "高手在思考……",
  promise: "第一次掷骰之前的承诺（SHA-256）：", diceText: "共掷 {n} 次，其中 {d} 次双点。机器人走棋时看不到将来的骰子。", histogram: "各点数出现的次数。你：{mine}。{bot}：{theirs}。",
  proofOk: "已核对：哈希和本局全部 {n} 次掷骰都由种子得出。", proofBad: "骰子与种子不符！", seed: "种子原文：",
  doubles: "加倍到 {n}", takes: "接受", drops: "认输", resigns: "认输", opening: "先手 {a}–{b}", openingTie: "{a}–{b}：重掷", declines: "拒绝", accepts: "接受", endOfGame: "终局",
  ariaBoard: "双陆棋棋盘", ariaPoint: "{n} 点：{men}", ariaBar: "吧台：你 {mine} 枚，{bot} {theirs} 枚", ariaOff: "已移出：你 {mine} 枚", ariaTheirOff: "已移出：{bot} {n} 枚", ariaDice: "骰子：{dice}", ariaNoDice: "骰子", ariaCube: "加倍骰 {n}，{owner}", cubeMine: "归你", cubeTheirs: "归{bot}", cubeMiddle: "在中间",
  noDouble: "不加倍", tooGood: "太好，不必加倍", men: "你 {n} 枚", menTheirs: "{bot} {n} 枚", empty: "空", canMove: "可以走", canGo: "可以走到这里", chosen: "已选",
  offline: "服务器没有响应。对局已保存。", damaged: "保存的对局无法读取，已搁置。", otherKey: "承诺这些骰子的密钥已经不在，这一局无法继续。请开始新的一局。", notSaved: "这个浏览器不能保存：离开后对局会丢失。", keys: "键盘：方向键在点位间移动，回车选择，Esc 取消；R 掷骰，D 加倍，T 接受，P 认输，U 撤回，C 确认，H 提示。",
};

const HANT = {
  title: "bgai 雙陸棋", language: "語言", rules: "規則與術語", rulesTitle: "規則與術語", close: "關閉",
  lobbyTitle: "來一局雙陸棋", continueTitle: "繼續上次沒打完的對局", continue: "繼續", lastTitle: "上一局", lookAgain: "再看一看",
  continueText: "{bot} · {kind} · 比分 {mine}–{theirs} · 第 {game} 局",
  opponent: "對手", beginner: "入門", normal: "普通", strong: "高手",
  beginnerCard: "剛學會下棋：愛攻擊，常常留下弱棋。適合第一局。",
  normalCard: "會佔點、築連續點、留錨，也會防守；看得到好的棋形，但常常不夠精確。",
  strongCard: "訓練到最後的網路：耐心而精確。你的每個失誤都有代價。",
  cardGames: "自我對弈 {games} 局學成；對高手每局 {points} 分。",
  cardGamesStrong: "自我對弈 {games} 局學成。",
  kind: "賽制", single: "單局", match5: "5 分賽", match7: "7 分賽",
  pace: "節奏", calm: "從容", quick: "快速", instant: "即時",
  settings: "設定", cube: "倍數方塊", cubeNote: "多分賽用克羅福規則，單局用雅可比規則",
  showNumbers: "顯示點的編號", showPips: "顯示總點數", start: "開始",
  lockedNote: "對局中不能更換對手和規則。雙方各擲一顆骰子，點數大的先走；相同則重擲。",
  you: "你", pips: "總點數 {n}", game: "第 {n} 局", toPoints: "{n} 分制", crawford: "克羅福局", jacoby: "雅可比規則", noCube: "無倍數方塊",
  roll: "擲骰", double: "加倍", confirm: "確認", undo: "撤回", hint: "提示", retry: "再試一次", nextGame: "下一局", again: "再來一局", anotherMatch: "再來一場", toLobby: "大廳", resign: "認輸", restart: "重新開始",
  record: "棋譜", diceTitle: "骰子", backToGame: "回到對局", lookingBack: "回看：第 {n} 手，共 {all} 手", earlier: "上一手", later: "下一手",
  lookingAtError: "失誤 {n}/{all}：", earlierError: "上一個失誤", laterError: "下一個失誤", backToErrors: "回到列表",
  throwOpening: "雙方各擲一顆骰子，點數大的先走。", throwButton: "擲骰定先手",
  tie: "雙方都擲出 {n}：重擲。", youStart: "你擲出 {mine}，{bot}擲出 {theirs}：你先走。", botStarts: "你擲出 {mine}，{bot}擲出 {theirs}：{bot}先走。",
  yourRoll: "輪到你：請擲骰。", yourRollOrDouble: "輪到你：擲骰或加倍。", yourPlay: "你擲出 {dice}。請選擇棋子。", chooseTarget: "請選擇落點。", mayConfirm: "確認這手棋，或撤回。",
  botRolls: "{bot}擲骰……", botRolled: "{bot}擲出 {dice}。", botThinks: "{bot}在思考……", botPlayed: "{bot}走 {play}。",
  noMove: "沒有能走的棋", youNoMove: "你擲出 {dice}：沒有能走的棋。", botNoMove: "{bot}擲出 {dice}：沒有能走的棋。",
  notThere: "這枚棋子不能走到那裡。", notThat: "那裡現在沒有你能走的棋子。",
  youDoubled: "你加倍到 {n}。", botTakes: "{bot}接受。", botDrops: "{bot}認輸。",
  botDoubles: "{bot}加倍到 {n}。接受：倍數方塊歸你；認輸：輸 {m} 分。", take: "接受", drop: "認輸",
  askDouble: "加倍到 {n}？", askDoubleText: "{bot}可以接受並擁有倍數方塊，或者認輸、輸 {m} 分。", yesDouble: "加倍", cancel: "取消",
  askResign: "認輸？", askResignText: "你願意輸多少？{bot}可以拒絕。", resign1: "單勝（{n}）", resign2: "全勝（{n}）", resign3: "完勝（{n}）",
  declined: "{bot}拒絕：繼續對局。", accepted: "{bot}接受。",
  askRestart: "重新開始？", askRestartText: "本局作廢、不計分，以同樣的設定開始新的一局。", yesRestart: "作廢並重新開始",
  askLeave: "離開對局？", askLeaveText: "對局連同比分和局數已儲存在這個瀏覽器裡，可以在大廳繼續。", yesLeave: "離開", stay: "留下",
  askNew: "開始新的一局？", askNewText: "沒打完的對局將作廢。", yesNew: "開始",
  win: "你贏了", lose: "{bot}贏了", kind1: "單勝", kind2: "全勝（家樂）", kind3: "完勝（百家樂）", resultText: "{kind}：{points}。", resultCube: "{kind}，倍數方塊 {cube}：{points}。", resultResigned: "你認輸：{points}。", resultDropped: "加倍後認輸：{points}。", points1: "1 分", pointsN: "{n} 分",
  score: "比分 {mine}–{theirs}。", matchWon: "你贏得了整場比賽", matchLost: "{bot}贏得了整場比賽", review: "回顧我的失誤", showBoard: "看棋盤",
  reviewTitle: "你在這一局裡的失誤", reviewNone: "沒有值得一提的失誤，下得好！", reviewText: "由高手衡量：你的失誤率（PR）{mine}，{bot} {theirs}。運氣：你 {myLuck}，{bot} {theirLuck}。", reviewItem: "{dice} {made} — 更好：{best}（−{loss}）", reviewWait: "正在查看每一個決定……", prNone: "–",
  hintTitle: "高手認為最好的走法", hintEquity: "{equity} · 勝率 {win}", hintRoll: "高手會繼續擲骰（{a}，加倍只有 {b}）。", hintDouble: "高手會加倍（{b}，不加倍 {a}）。", hintTooGood: "高手會繼續走，爭取全勝（{a}）。", hintTake: "高手會接受", hintDrop: "高手會認輸", hintWin: "你的勝率", hintWait: "高手在思考……",
  promise: "第一次擲骰之前的承諾（SHA-256）：", diceText: "共擲 {n} 次，其中 {d} 次雙點。機器人走棋時看不到將來的骰子。", histogram: "各點數出現的次數。你：{mine}。{bot}：{theirs}。",
  proofOk: "已核對：雜湊和本局全部 {n} 次擲骰都由種子得出。", proofBad: "骰子與種子不符！", seed: "種子原文：",
  doubles: "加倍到 {n}", takes: "接受", drops: "認輸", resigns: "認輸", opening: "先手 {a}–{b}", openingTie: "{a}–{b}：重擲", declines: "拒絕", accepts: "接受", endOfGame: "終局",
  ariaBoard: "雙陸棋棋盤", ariaPoint: "{n} 點：{men}", ariaBar: "分界：你 {mine} 枚，{bot} {theirs} 枚", ariaOff: "已移離棋盤：你 {mine} 枚", ariaTheirOff: "已移離棋盤：{bot} {n} 枚", ariaDice: "骰子：{dice}", ariaNoDice: "骰子", ariaCube: "倍數方塊 {n}，{owner}", cubeMine: "歸你", cubeTheirs: "歸{bot}", cubeMiddle: "在中間",
  noDouble: "不加倍", tooGood: "太好，不必加倍", men: "你 {n} 枚", menTheirs: "{bot} {n} 枚", empty: "空", canMove: "可以走", canGo: "可以走到這裡", chosen: "已選",
  offline: "伺服器沒有回應。對局已儲存。", damaged: "儲存的對局無法讀取，已擱置。", otherKey: "承諾這些骰子的金鑰已經不在，這一局無法繼續。請開始新的一局。", notSaved: "這個瀏覽器不能儲存：離開後對局會遺失。", keys: "鍵盤：方向鍵在點之間移動，Enter 選擇，Esc 取消；R 擲骰，D 加倍，T 接受，P 認輸，U 撤回，C 確認，H 提示。",
};

export const LANGUAGES = { en: EN, "zh-Hans": HANS, "zh-Hant": HANT };

let current = "en";

/** The language of the browser, as far as the page speaks it. */
export function browserLanguage() {
  for (const wanted of navigator.languages || [navigator.language || "en"]) {
    if (/^zh\b.*(hant|tw|hk|mo)/i.test(wanted)) return "zh-Hant";
    if (/^zh\b/i.test(wanted)) return "zh-Hans";
    if (/^en\b/i.test(wanted)) return "en";
  }
  return "en";
}

export function setLanguage(language) {
  current = language in LANGUAGES ? language : "en";
  document.documentElement.lang = current;
  document.title = t("title");
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  return current;
}

export function language() {
  return current;
}

/** A sentence in the current language, its {words} filled in. */
export function t(key, words = {}) {
  const text = LANGUAGES[current][key] ?? EN[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in words ? String(words[name]) : whole));
}
