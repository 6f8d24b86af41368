/** Characters of a message that are kept. */
const MAX_SUBJECT = 120;
const MAX_BODY = 8_000;
const MAX_VALUE = 200;

/** By what a commit is known as ours. - `run` id of the run of the mission. */
export interface CommitTrailers {
  readonly mission: string;
  readonly task: string;
  readonly attempt: number;
  readonly run: string;
}

/** What a commit says. Both may be of an agent: no line of them is read as one of ours. */
export interface CommitText {
  readonly subject: string;
  readonly body?: string | undefined;
}

const KEYS = {
  task: 'Orrery-Task',
  mission: 'Orrery-Mission',
  attempt: 'Orrery-Attempt',
  run: 'Orrery-Run',
} as const;

/** The message of a commit: its text, and the trailers, which alone are the last paragraph. */
export function commitMessage({ subject, body = '' }: CommitText, trailers: CommitTrailers): string {
  const paragraphs = [
    quoted(oneLine(subject).slice(0, MAX_SUBJECT)) || trailers.task,
    quoted(plain(body).trim().slice(0, MAX_BODY)),
    Object.entries(KEYS)
      .map(([field, key]) => `${key}: ${trailerValue(String(trailers[field as keyof CommitTrailers]))}`)
      .join('\n'),
  ];
  return `${paragraphs.filter((text) => text !== '').join('\n\n')}\n`;
}

/** A value as it stands in a trailer. */
export const trailerValue = (value: string): string => oneLine(value).slice(0, MAX_VALUE).trim();

const SEPARATOR = '\u001e';
const ORDER = [KEYS.task, KEYS.mission, KEYS.attempt, KEYS.run];

/** The format by which git tells a commit and its trailers, as `readTrailers` reads it. */
export const TRAILERS_FORMAT = [
  '%H',
  ...ORDER.map((key) => `%(trailers:key=${key},valueonly,separator=%x1e)`),
].join('%x1f');

/** A commit with its trailers; undefined when it has not exactly one of each. */
export function readTrailers(text: string): (CommitTrailers & { readonly commit: string }) | undefined {
  const [commit = '', ...values] = text
    .trim()
    .split('\u001f')
    .map((value) => value.trim());
  const [task = '', mission = '', attempt = '', run = ''] = values;
  const isOurs =
    values.length === ORDER.length && !values.some((value) => value === '' || value.includes(SEPARATOR));
  if (!isOurs || !/^[1-9]\d{0,8}$/.test(attempt)) return undefined;
  return { commit, task, mission, attempt: Number(attempt), run };
}

/** A line that looks like a trailer of ours is none when something stands before it. */
const quoted = (text: string): string =>
  text.replaceAll(/^\s*orrery-[\w-]*\s*[:=]/gim, (line) => `> ${line.trim()}`);

const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  text.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');

const oneLine = (text: string): string => plain(text).replaceAll(/\s+/g, ' ').trim();
