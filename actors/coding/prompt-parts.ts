export const inLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A head with a text below it; nothing without the text. */
export const section = (head: string, text: string | undefined): string | undefined =>
  text === undefined || text === '' ? undefined : `${head}\n${text}`;

export const listOf = (head: string, entries: readonly string[]): string | undefined =>
  section(head, entries.map((entry) => `- ${inLine(entry)}`).join('\n'));
