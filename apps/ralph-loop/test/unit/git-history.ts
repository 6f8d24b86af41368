import { execFileSync } from 'node:child_process';

/** A commit to be made: `files` are written whole, `merges` is the number of the commit (from 1) that is merged. */
export interface PlannedCommit {
  readonly subject: string;
  readonly files: Readonly<Record<string, string>>;
  readonly merges?: number;
}

/** Runs git in `folder`, whatever the machine's own settings are. */
export function git(folder: string, ...words: string[]): string {
  return execFileSync('git', ['-C', folder, ...words], {
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Makes a repository with these commits on `main` in an empty folder, and checks the last one out. */
export function makeHistory(folder: string, commits: readonly PlannedCommit[]): void {
  git(folder, 'init', '--quiet', '--initial-branch=main');
  execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], {
    input: commits.map(commitStream).join(''),
  });
  git(folder, 'reset', '--quiet', '--hard', 'main');
}

const BEGINNING_SECONDS = 1_700_000_000;

function commitStream({ subject, files, merges }: PlannedCommit, index: number): string {
  const lines = [
    'commit refs/heads/main',
    `mark :${index + 1}`,
    `committer A <a@example.org> ${BEGINNING_SECONDS + 60 * index} +0000`,
    data(subject),
    ...(index === 0 ? [] : [`from :${index}`]),
    ...(merges === undefined ? [] : [`merge :${merges}`]),
    ...Object.entries(files).flatMap(([path, text]) => [`M 100644 inline ${path}`, data(text)]),
  ];
  return `${lines.join('\n')}\n`;
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`;
