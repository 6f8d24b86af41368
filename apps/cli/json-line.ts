/** What JSON allows and a terminal would act on, and what some readers of lines take for the end of one. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A value as one line of JSON. It has no character that a terminal acts on. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll(UNSAFE, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
