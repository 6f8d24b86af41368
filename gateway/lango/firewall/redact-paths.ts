const REDACTED = '[path-redacted]';

const SEGMENT = String.raw`[^\s/\\:"'\`<>|*?,;()[\]{}]+`;
/** Folders that give a path away however short it is. */
const ROOTS =
  '(?:bin|boot|dev|etc|home|lib|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr|var|Users|Volumes|Library|Applications)';
/** An absolute path of POSIX: three segments or more, or below a well-known folder. */
const POSIX = String.raw`(?<![\w.~/-])(?<!\w:(?=//))/{1,2}(?:${ROOTS}(?:/+${SEGMENT})+|${SEGMENT}(?:/+${SEGMENT}){2,})/?`;
const DRIVE = String.raw`(?<![A-Za-z0-9])[A-Za-z]:[\\/](?!/)(?:[^\s"'\`<>|*?,;]*)`;
const UNC = String.raw`(?<!\\)\\\\[^\s"'\`<>|*,;]+`;
const FILE_URL = String.raw`\b[Ff][Ii][Ll][Ee]:/{1,3}[^\s"'\`<>]+`;
const PATHS = new RegExp([FILE_URL, POSIX, DRIVE, UNC].join('|'), 'g');
/** A quoted path may have blanks. */
const QUOTED = /(["'`])((?:\/|[A-Za-z]:[\\/]|\\\\)[^"'`\n]*)\1/g;
const WHOLE = new RegExp(`^(?:${[FILE_URL, POSIX, DRIVE, UNC].join('|')})`);

/** The text with each absolute path of a file system, of POSIX or Windows, replaced. Paths of other URLs stay. */
export function redactPaths(text: string): string {
  // Most texts have none of the characters.
  if (!/[\\/]/.test(text)) return text;
  if (!text.includes('\n') && WHOLE.test(text) && isOnePath(text)) return REDACTED;
  return text
    .replace(QUOTED, (all, quote: string, path: string) =>
      WHOLE.test(path) ? `${quote}${REDACTED}${quote}` : all,
    )
    .replace(PATHS, REDACTED);
}

/** Whether each blank in it is within a segment: then what follows belongs to the path. */
const isOnePath = (text: string): boolean =>
  text
    .split(' ')
    .slice(1)
    .every((part) => /[\\/.]/.test(part));
