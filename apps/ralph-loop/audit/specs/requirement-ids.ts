/** An id such as `REQ-12`, `AC-1.2`, `FR-AUTH-07`, `N-P01`. */
const ID = String.raw`[A-Z][A-Z0-9]{0,11}(?:-[A-Z][A-Z0-9]{0,11}){0,3}-[A-Z]{0,4}\d+(?:\.\d+)*[a-z]?`;
/** Headings number requirements in words, too. */
const IN_WORDS = String.raw`(?:Requirement|User Story|Story|Use Case|Epic) \d+(?:\.\d+)*`;
/** Not part of a path, of a longer word, or of a range: of `R-1..R-9` neither end is cited by itself. */
const CITED = new RegExp(
  String.raw`(?<![\w./#–—…~-]|[–—…~]\s)${ID}(?![\w/-]|\.[\w.*]|\s?[–—…~]\s?[A-Z0-9])`,
  'g',
);
const DEFINED = new RegExp(String.raw`^(?:\*\*|__|\[|\x60|~~)*(${ID})((?:\*\*|__|\]|\x60)*)\s*(.?)`);
const HEADING = new RegExp(String.raw`^(?:\*\*|__|\[|\x60)*(${ID}|${IN_WORDS})(?![\w.]*\w)`);

/** The ids that a text mentions, and where. */
export const idsIn = (text: string): { readonly id: string; readonly at: number }[] =>
  [...text.matchAll(CITED)].map(({ 0: id, index }) => ({ id, at: index }));

export const mentionsIds = (text: string): boolean => text.search(CITED) !== -1 || HEADING_LINE.test(text);

const HEADING_LINE = new RegExp(`^#+ .*${IN_WORDS}`, 'm');

/** The id that the text of a list item defines: in bold, or before a colon or dash. */
export function idDefinedBy(text: string): string | undefined {
  const [, id, closed = '', next = ''] = DEFINED.exec(text) ?? [];
  return id !== undefined && (closed !== '' || /[:–—.)-]/.test(next)) ? id : undefined;
}

/** The id that a heading begins with. */
export const idOfHeading = (text: string): string | undefined => HEADING.exec(text)?.[1];

/** The ids of one list of requirements: everything before the number. */
export const seriesOf = (id: string): string => id.replace(/\d[\d.]*[a-z]?$/, '');

/** `R-1` of `R-1.2`, where that is a part of a requirement. */
export const wholeOf = (id: string): string | undefined => {
  const whole = id.replace(/(\.\d+|[a-z])$/, '');
  return whole === id ? undefined : whole;
};
