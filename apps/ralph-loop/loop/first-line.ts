/** The first line of a text that has something in it: reasons may be followed by pages of a program's output. */
export const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? '';
