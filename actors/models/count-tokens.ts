/** How many tokens a text is for a model, or rather more than fewer. */
export type CountTokens = (text: string) => number;

const ASCII_A_TOKEN = 3;
const ASCII = /[\0-\x7f]+/g;

/**
 * An estimate without the model's vocabulary, on the safe side: three ASCII characters are a token, and of everything else
 * each byte of UTF-8. English text has about four characters a token, program text about three and a half.
 */
export const estimateTokens: CountTokens = (text) => {
  const others = text.replace(ASCII, '');
  return Math.ceil((text.length - others.length) / ASCII_A_TOKEN) + Buffer.byteLength(others);
};
