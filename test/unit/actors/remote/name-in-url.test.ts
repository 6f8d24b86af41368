import { describe, expect, it } from 'vitest';
import { nameInUrl } from '../../../../actors/remote/remote-agent.ts';

describe('the name of an agent in its URL (C-31)', () => {
  it.each([
    ['http://b/mars', 'mars'],
    ['http://b/mars/', 'mars'],
    ['http://b/team/mars', 'mars'],
    ['http://b/mars/.well-known/agent-card.json', 'mars'],
    ['http://b/b%2Fmars', 'b/mars'],
    ['http://b/b%2Fmars/.well-known/agent.json', 'b/mars'],
    ['http://b/', undefined],
    ['http://b/.well-known/agent-card.json', undefined],
    ['http://b/cards/mars.json', undefined],
    ['http://b/%E0%A4%A', undefined],
    ['http://b/a%20name', undefined],
  ])('%s: %s', (url, name) => {
    expect(nameInUrl(new URL(url))).toBe(name);
  });
});
