/** A test runner whose summary gates understand, and the files that decide what it runs. */
interface CountedRunner {
  readonly pattern: RegExp;
  readonly configuration: readonly string[];
}

const RUNNERS: readonly CountedRunner[] = [
  { pattern: /\bnode\b[^\n&|;]* --test\b/, configuration: [] },
  { pattern: /\bvitest\b/, configuration: ['vitest.config.*', 'vitest.workspace.*', 'vite.config.*'] },
  { pattern: /\bjest\b|\breact-scripts test\b/, configuration: ['jest.config.*'] },
  { pattern: /\bmocha\b/, configuration: ['.mocharc*'] },
  { pattern: /\bplaywright test\b/, configuration: ['playwright.config.*'] },
  { pattern: /\b(?:tape|tap)\b/, configuration: ['.taprc'] },
  { pattern: /\bbun test\b/, configuration: ['bunfig.toml'] },
  { pattern: /\bdeno test\b/, configuration: ['deno.json', 'deno.jsonc'] },
  { pattern: /\b(?:py\.?test|tox)\b/, configuration: ['pytest.ini', 'tox.ini'] },
  { pattern: /\bgo test\b|\bgotestsum\b/, configuration: [] },
  { pattern: /\bcargo (?:nextest|test)\b/, configuration: [] },
  { pattern: /\brspec\b/, configuration: ['.rspec'] },
  { pattern: /\b(?:phpunit|pest)\b/, configuration: ['phpunit.xml*'] },
  { pattern: /\bdotnet test\b|\bmvn\b|\bctest\b/, configuration: [] },
];

/** The test runners that a command names, if gates understand what they print; undefined if it names none. */
export function countedRunner(command: string): Pick<CountedRunner, 'configuration'> | undefined {
  const named = RUNNERS.filter(({ pattern }) => pattern.test(command));
  if (named.length === 0) return undefined;
  return { configuration: named.flatMap(({ configuration }) => configuration) };
}
