import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRoute, takeToken, VIEWS, writeRoute } from '../../page/route.ts';

describe('an address within the page', () => {
  it('leads back to where it was taken from', () => {
    const routes = fc.record({
      view: fc.constantFrom(...VIEWS),
      id: fc.string(),
      at: fc.option(fc.nat(), { nil: undefined }),
      text: fc.string(),
      only: fc.constantFrom('all', 'busy', 'trouble'),
    });
    fc.assert(
      fc.property(routes, (route) => {
        expect(readRoute(writeRoute(route))).toEqual(route);
      }),
      { numRuns: 200 },
    );
  });

  it('that nobody understands leads to the first view', () => {
    for (const fragment of ['', '#', '#/nowhere', '#/__proto__', '#/system?at=-1', '#/system?at=x&only=else'])
      expect(readRoute(fragment)).toEqual({ view: 'system', id: '', at: undefined, text: '', only: 'all' });
    expect(readRoute('#/agent/%E0%A4%A').id).toBe('%E0%A4%A');
  });

  it('gives away its token once', () => {
    expect(takeToken('#token=a%2Bb')).toEqual({ token: 'a+b', rest: '#/system' });
    expect(takeToken('#/trouble?token=x')).toEqual({ token: 'x', rest: '#/trouble' });
    expect(takeToken('#/time?at=3&token=x')).toEqual({ token: 'x', rest: '#/time?at=3' });
    expect(takeToken('#/agent/mars')).toEqual({ token: undefined, rest: '#/agent/mars' });
  });
});
