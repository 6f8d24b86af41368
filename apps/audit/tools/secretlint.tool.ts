import type { Severity } from '@orrery/ralph-loop';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool } from '../tool.ts';
import { isAside } from './aside.ts';
import { decoded } from './decoded.ts';
import { hitOf, scanFiles } from './scan-files.ts';

const secret = (what: string, severity: Severity = 'critical') => ({
  severity,
  what: `${what} is written in the file`,
});

const RULES: Tool['rules'] = {
  'secretlint/1password': secret('A 1Password service account token'),
  'secretlint/anthropic': secret('An Anthropic API key'),
  'secretlint/aws': secret('An AWS key'),
  'secretlint/basicauth': secret('A URL with user and password', 'high'),
  'secretlint/cloudflare': secret('A Cloudflare token'),
  'secretlint/database-connection-string': secret('A database address with user and password', 'high'),
  'secretlint/databricks': secret('A Databricks token'),
  'secretlint/docker': secret('A Docker access token'),
  'secretlint/figma': secret('A Figma token'),
  'secretlint/gcp': secret('A Google Cloud service account key'),
  'secretlint/github': secret('A GitHub token'),
  'secretlint/gitlab': secret('A GitLab token'),
  'secretlint/grafana': secret('A Grafana token'),
  'secretlint/groq': secret('A Groq API key'),
  'secretlint/hashicorp-vault': secret('A Vault token'),
  'secretlint/huggingface': secret('A Hugging Face token'),
  'secretlint/linear': secret('A Linear API key'),
  'secretlint/notion': secret('A Notion token'),
  'secretlint/npm': secret('An npm token'),
  'secretlint/openai': secret('An OpenAI API key'),
  'secretlint/privatekey': secret('A private key'),
  'secretlint/sendgrid': secret('A SendGrid API key'),
  'secretlint/shopify': secret('A Shopify token'),
  'secretlint/slack': secret('A Slack token'),
  'secretlint/stripe': secret('A Stripe key'),
  'secretlint/tailscale': secret('A Tailscale key'),
  'secretlint/vercel': secret('A Vercel token'),
};

/** Finds secrets in files, by secretlint's recommended rules, and private keys of any kind. */
export const secretlint: Tool = {
  name: 'secretlint',
  module: import.meta.url,
  packages: ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend'],
  licence: 'MIT',
  home: 'https://github.com/secretlint/secretlint',
  replaces: 'the rules secret.*',
  rules: RULES,
  nothing: 'no files',
  takes: () => true,
  run: async (job, progress) => {
    const { findSecrets } = await import('../secrets.ts');
    const { isOfOwnAuthority } = await import('./own-authority.ts');
    const keys = new Set<string>();
    // A test's key is made for it, and a key in several files is reported once.
    const isTold = (file: string, key: string): boolean => {
      const body = lettersOf(key);
      if (isForShow(file) || keys.has(body)) return false;
      keys.add(body);
      return !isOfOwnAuthority(job.root, file, key);
    };
    return scanFiles(job, progress, async (source) => {
      const loud = (await findSecrets(source)).filter(({ isSilenced }) => !isSilenced);
      return loud
        .filter(({ start, end }) => !isMadeUp(around(source, start, end), source.file))
        .filter(
          ({ rule, start, end }) =>
            rule !== 'secret.privatekey' || isTold(source.file, source.text.slice(start, end)),
        )
        .flatMap(({ rule, start, end }) => {
          const hit = hitAt(source, rule.replace('secret.', 'secretlint/'), start);
          const isGraver = !isForShow(source.file) && !hasWordForPassword(around(source, start, end));
          return isGraver ? hit : lessSevere(hit);
        });
    });
  },
};

function hitAt(source: SourceText, rule: string, start: number): Hit[] {
  const message = `${RULES[rule]?.what}. Revoke it, and read it from the environment.`;
  return hitOf(RULES, rule, source, { ...source.positionAt(start), message });
}

/** Whether a file is a test, documentation or a sample. Secrets there are less likely to be real, but may be. */
const isForShow = (file: string): boolean =>
  isAside(file) || /[.-](?:example|sample|template|dist|test)$/i.test(file);

const lessSevere = (hits: readonly Hit[]): Hit[] => hits.map((hit) => ({ ...hit, severity: 'medium' }));

/** The letters of a private key, without its formatting. */
const lettersOf = (key: string): string =>
  key.replace(/-----[A-Z ]+-----|\\[nr]|[^A-Za-z0-9+/=]/g, '').slice(0, 200);

/** A match with the text after it, up to a blank or quote: some rules end at the password. */
function around({ text }: SourceText, start: number, end: number): string {
  const rest = /^[^\s'"`<>]{0,200}/.exec(text.slice(end, end + 200))?.[0] ?? '';
  return text.slice(start, end) + rest;
}

/** A placeholder in a URL. */
const HOLE = /:\/\/\S*\[[a-z][a-z _-]*\]/i;
/** A Slack token in words; real ones begin with a number. */
const SLACK_OF_WORDS = /^xox[a-z]-(?:[a-z]|.*\*\*)/i;
const WITH_PASSWORD = /:\/\/([^\s:/@]*):([^\s/@]+)@(\[[^\]]*\]|[^\s:/?#'"`\\,)]*)/;
const WORD_OF_SAMPLES =
  /^(?:user(?:name)?|pass(?:w(?:or)?d)?|pw|pwd|secret|admin|root|test(?:er|ing)?|foo|bar|baz|guest|hunter2|postgres|mysql|mongo|redis|sa|me|my[-_]?\w*|letmein|qwerty|abc|a|b|p|u|x|y|alice|bob|john|hello|world|xxx+|\*+|token|key|credentials?|some\w*|the\w*|default|dev(?:elopment)?|local|demo|prisma|app)[\d!@#$_-]{0,6}$/i;
/** Words in place of a password, such as STRONG_DB_PASSWORD, change-me, umami_password. */
const STANDS_FOR_ONE = /^[A-Z][A-Z_]+$|^[[{(%]|pass(?:word|wd)|change[-_]?(?:me|this)|secret|^[a-z]+$/;
/** Hosts that exist only on one machine or in one network of containers. */
const NOWHERE =
  /^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|\[|host\.docker\.internal|(?:[\w-]+\.)*example(?:\.[a-z]+)?$|.*\.(?:test|invalid|local|localhost)$|[\w-]*$)/i;

/**
 * Whether a URL with a password is made up: the password is a word; or the host is unreachable or the file a sample, and the
 * password does not look random.
 */
function isMadeUp(match: string, file: string): boolean {
  if (HOLE.test(match) || SLACK_OF_WORDS.test(match)) return true;
  const parts = WITH_PASSWORD.exec(match);
  if (parts === null) return false;
  const [, user = '', password = '', host = ''] = parts;
  const plain = decoded(password);
  if (WORD_OF_SAMPLES.test(plain) || STANDS_FOR_ONE.test(plain) || plain === user) return true;
  return (isForShow(file) || NOWHERE.test(host)) && !isRandom(plain);
}

/** Whether the password in a URL was chosen by a person, not generated. */
function hasWordForPassword(match: string): boolean {
  const password = WITH_PASSWORD.exec(match)?.[2];
  return password !== undefined && !/^(?=.*(?:\d|[a-z].*[A-Z])).{12}/.test(decoded(password));
}

const isRandom = (password: string): boolean =>
  password.length >= 12 && /\d/.test(password) && /[a-z]/.test(password) && /[A-Z]/.test(password);
