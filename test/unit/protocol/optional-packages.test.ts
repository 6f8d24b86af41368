import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENTRY_PACKAGES, PACKAGES_FOR } from '../../../runtime/protocol/optional-packages.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

/** What a page says to install, as one list. */
const installed = (path: string): string[] =>
  [...read(path).matchAll(/`npm install ([^`]+)`/g)].flatMap(([, names = '']) => names.split(' ')).toSorted();

const all = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].toSorted();

describe('The table of optional packages', () => {
  it('has those that package.json lists, each with what it is for', () => {
    const { peerDependencies, peerDependenciesMeta } = JSON.parse(read('package.json')) as {
      readonly peerDependencies: Readonly<Record<string, string>>;
      readonly peerDependenciesMeta: Readonly<Record<string, unknown>>;
    };
    const known = all(...Object.values(ENTRY_PACKAGES), ...Object.values(PACKAGES_FOR));
    expect(Object.keys(peerDependencies)).toEqual(known);
    expect(Object.keys(peerDependenciesMeta)).toEqual(known);
    for (const meta of Object.values(peerDependenciesMeta))
      expect(meta).toEqual({ optional: true, for: expect.stringMatching(/\w/) });
  });

  it('is what the pages tell their readers to install', () => {
    const { gateway, listening, grpc, pushNotifications, signedCards, mcp } = PACKAGES_FOR;
    expect(installed('docs/recipes/serving.md')).toEqual(
      all(gateway, listening, mcp, pushNotifications, signedCards),
    );
    expect(installed('docs/recipes/model-agent.md')).toEqual(all(ENTRY_PACKAGES['orrery/models'] ?? []));
    expect(installed('docs/recipes/mcp-server.md')).toEqual(all(ENTRY_PACKAGES['orrery/mcp'] ?? []));
    const page = read('docs/gateway.md');
    for (const names of [[...gateway, ...listening], pushNotifications, signedCards, mcp])
      expect(page).toContain(names.join(' '));
    for (const name of grpc) expect(page).toContain(name);
  });
});
