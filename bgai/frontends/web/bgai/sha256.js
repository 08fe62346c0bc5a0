// SHA-256 of bytes: by WebCrypto where there is one, else worked out here, for pages that come by plain http.

const primes = (/** @type {number} */ count) => {
  const found = /** @type {number[]} */ ([]);
  for (let n = 2; found.length < count; n++) if (found.every((p) => n % p)) found.push(n);
  return found;
};
const fraction = (/** @type {number} */ x) => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
const ROUNDS = Int32Array.from(primes(64), (p) => fraction(Math.cbrt(p)));
const BEGIN = Int32Array.from(primes(8), (p) => fraction(Math.sqrt(p)));
const turnRight = (/** @type {number} */ x, /** @type {number} */ n) => (x >>> n) | (x << (32 - n));

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Uint8Array>} 32 bytes */
export async function sha256(bytes) {
  if (globalThis.crypto?.subtle) return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return sha256Here(bytes);
}

/** SHA-256 without WebCrypto. @param {Uint8Array} bytes */
export function sha256Here(bytes) {
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const hash = Int32Array.from(BEGIN),
    words = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const x = words[i - 15],
        y = words[i - 2];
      const s0 = turnRight(x, 7) ^ turnRight(x, 18) ^ (x >>> 3),
        s1 = turnRight(y, 17) ^ turnRight(y, 19) ^ (y >>> 10);
      words[i] = words[i - 16] + s0 + words[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const s1 = turnRight(e, 6) ^ turnRight(e, 11) ^ turnRight(e, 25),
        s0 = turnRight(a, 2) ^ turnRight(a, 13) ^ turnRight(a, 22);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] += word));
  }
  const out = new DataView(new ArrayBuffer(32));
  hash.forEach((word, i) => out.setInt32(4 * i, word));
  return new Uint8Array(out.buffer);
}

/**
 * HMAC-SHA-256.
 * @param {Uint8Array} key at most 64 bytes
 * @param {Uint8Array} message
 * @returns {Promise<Uint8Array>}
 */
export async function hmac(key, message) {
  const padded = (/** @type {number} */ byte) => Uint8Array.from({ length: 64 }, (_, i) => (key[i] ?? 0) ^ byte);
  const inner = await sha256(Uint8Array.of(...padded(0x36), ...message));
  return sha256(Uint8Array.of(...padded(0x5c), ...inner));
}

/** Bytes in hexadecimal digits. @param {Uint8Array} bytes */
export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
