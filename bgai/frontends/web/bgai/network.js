// A value network: layers with ReLU between them and a softmax over six outcomes. Knows no files.

import { encode, widthsOf } from "./encoding.js";
import { OUTCOMES } from "./outcome.js";

/**
 * Weights [out, in] row by row, and a bias for each output.
 * @typedef {{weights: Float32Array, bias: Float32Array}} Layer
 */

export class Network {
  /** @type {{byInput: Float32Array, bias: Float32Array, sums: Float64Array}[]} */
  #layers;

  /**
   * The encoding's extras stand behind the units of the first hidden layer, as inputs of the second layer.
   * @param {string} encoding @param {Layer[]} layers
   * @throws {RangeError} when the layers do not fit each other or the encoding
   */
  constructor(encoding, layers) {
    this.encoding = encoding;
    let { width, extras } = widthsOf(encoding);
    if (layers.length < 2) throw new RangeError(`a network has 2 layers or more, not ${layers.length}`);
    this.#layers = layers.map(({ weights, bias }, number) => {
      const outputs = bias.length;
      if (weights.length !== width * outputs) {
        throw new RangeError(
          `layer ${number} should have ${width} inputs and ${outputs} outputs, not ${weights.length} weights`,
        );
      }
      const byInput = new Float32Array(weights.length);
      for (let out = 0; out < outputs; out++) {
        for (let input = 0; input < width; input++) byInput[input * outputs + out] = weights[out * width + input];
      }
      width = outputs + (number === 0 ? extras : 0);
      return { byInput, bias, sums: new Float64Array(width) };
    });
    const last = layers[layers.length - 1].bias.length;
    if (last !== OUTCOMES.length)
      throw new RangeError(`the last layer should have ${OUTCOMES.length} outputs, not ${last}`);
  }

  /** Sizes of the hidden layers. */
  get hidden() {
    return this.#layers.slice(0, -1).map(({ bias }) => bias.length);
  }

  /**
   * Chances of the player to roll on this board.
   * @param {ArrayLike<number>} board @returns {Float64Array} six, in the order of OUTCOMES
   */
  outcomes(board) {
    const inputs = encode(board, this.encoding),
      { width, extras } = widthsOf(this.encoding);
    let before = /** @type {Float32Array | Float64Array} */ (inputs.subarray(0, width));
    this.#layers.forEach((layer, number) => {
      const { sums, bias } = layer,
        last = number === this.#layers.length - 1;
      addProducts(before, layer.byInput, bias, sums);
      if (!last) for (let unit = 0; unit < bias.length; unit++) if (sums[unit] < 0) sums[unit] = 0;
      if (number === 0 && extras) sums.set(inputs.subarray(width), bias.length);
      before = sums;
    });
    return softmax(before);
  }
}

/** sums = bias + weights times inputs; most inputs are zero, and cost nothing. */
function addProducts(
  /** @type {Float32Array | Float64Array} */ inputs,
  /** @type {Float32Array} */ byInput,
  /** @type {Float32Array} */ bias,
  /** @type {Float64Array} */ sums,
) {
  const outputs = bias.length;
  sums.set(bias);
  for (let input = 0; input < inputs.length; input++) {
    const value = inputs[input];
    if (value === 0) continue;
    const row = input * outputs;
    for (let out = 0; out < outputs; out++) sums[out] += value * byInput[row + out];
  }
}

function softmax(/** @type {Float32Array | Float64Array} */ logits) {
  const highest = Math.max(...logits);
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - highest));
  const total = powers.reduce((sum, power) => sum + power);
  return powers.map((power) => power / total);
}
