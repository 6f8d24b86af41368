import { styleText } from 'node:util';

/** Colours a text. `plain` leaves it, for outputs that are no terminal. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Leaves a text as it is. */
export const plain: Paint = (_, text) => text;

/** Colours a text with escape sequences. */
export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });
