import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { honoPathOf, type RestRoute, restRouter } from '../../../../../gateway/a2a/wire/rest-routes.ts';
import { restBindingOf, V1 } from '../../../../../gateway/a2a/wire/v1/dialect.ts';

const { routes } = restBindingOf(V1);
const find = restRouter(routes);

/** What a client makes of a path: everything but what a segment may hold is escaped, colons too. */
const segment = (text: string): string => encodeURIComponent(text);

const filled = ({ path }: RestRoute, values: Record<string, string>): string =>
  path.replace(/\{(\w+)\}/g, (_whole, name: string) => segment(values[name] ?? ''));

describe('REST routes', () => {
  it('every path is found with what stands in it, with an agent before it or not', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => text !== '.' && text !== '..');
    fc.assert(
      fc.property(fc.constantFrom(...routes), word, word, fc.option(word), (route, id, taskId, agent) => {
        const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
        const values = Object.fromEntries(names.map((name) => [name, name === 'taskId' ? taskId : id]));
        const path = `${agent === null ? '' : `/${segment(agent)}`}${filled(route, values)}`;
        expect(find(route.method, path)).toEqual({ route, agentId: agent ?? undefined, variables: values });
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['GET', '/message:send'],
    ['PUT', '/tasks/x'],
    ['GET', '/tasks/x/y'],
    ['GET', '/tasks/'],
    ['GET', '/a/b/tasks'],
    ['GET', '//tasks'],
    ['GET', '/tasks/%E0%A4%A'],
    ['GET', '/%E0%A4%A/tasks'],
  ])('%s %s is none', (method, path) => {
    expect(find(method, path)).toBeUndefined();
  });

  it('a verb belongs to the route, and an escaped one to the id', () => {
    expect(find('POST', '/tasks/a:cancel')).toMatchObject({
      route: { operation: 'cancel' },
      variables: { id: 'a' },
    });
    expect(find('GET', '/tasks/a%3Asubscribe')).toMatchObject({
      route: { operation: 'get' },
      variables: { id: 'a:subscribe' },
    });
    expect(find('GET', '/tasks/a:b')).toMatchObject({
      route: { operation: 'get' },
      variables: { id: 'a:b' },
    });
    expect(honoPathOf('/tasks/{id}:cancel')).toBe('/tasks/:id{[^/]+:cancel}');
  });
});
