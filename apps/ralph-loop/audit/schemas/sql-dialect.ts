const DIALECTS: readonly (readonly [name: string, marks: RegExp])[] = [
  [
    'MySQL',
    /\bENGINE\s*=|\bAUTO_INCREMENT\b|\bUNSIGNED\b|^[ \t]*DELIMITER\s|\bCHARSET\s*=|\b(TINYINT|MEDIUMINT|LONGTEXT|MEDIUMTEXT)\b|\bON\s+UPDATE\s+CURRENT_TIMESTAMP\b|^ALTER TABLE `[^`]*` (ADD CONSTRAINT|MODIFY|CHANGE)\b/im,
  ],
  ['SQL Server', /^[ \t]*GO[ \t]*\r?$|\bNVARCHAR\b|\bIDENTITY\s*\(\s*\d|\bCLUSTERED\b|\[dbo\]/im],
  ['Oracle', /\bVARCHAR2\b|\bNUMBER\s*\(\s*\d/i],
];

/** The dialect that a file is written in, if it is neither PostgreSQL nor SQLite; by words that only that one has. */
export const foreignDialect = (text: string): string | undefined =>
  DIALECTS.find(([, marks]) => marks.test(text))?.[0];

const DOWN =
  /^[ \t]*--[ \t]*(?:\+goose\s+down|migrate:down|\+migrate\s+down|down\s+migration|\/\/@undo|@down|rollback)\b/im;

/** What a migration does going up; what takes it back says everything in reverse. */
export function upward(text: string): string {
  const down = DOWN.exec(text);
  return down === null ? text : text.slice(0, down.index);
}
