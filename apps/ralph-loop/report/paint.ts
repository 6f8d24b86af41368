import { styleText } from 'node:util';

/** Colours a text, or leaves it: whoever writes to something that is no terminal passes `plain`. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

export const plain: Paint = (_, text) => text;

export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });
