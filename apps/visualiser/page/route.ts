/** Where in the page one is; it is the fragment of the address, so that a link leads there again. */
export interface Route {
  readonly view: View;
  /** Of an agent or a conversation. */
  readonly id: string;
  /** The number of entries after which one looks; undefined follows what happens. */
  readonly at: number | undefined;
  /** What a list is filtered by. */
  readonly text: string;
  readonly only: 'all' | 'busy' | 'trouble';
}

export const VIEWS = [
  'system',
  'graph',
  'agent',
  'conversations',
  'conversation',
  'work',
  'trouble',
  'time',
] as const;
export type View = (typeof VIEWS)[number];

const START: Route = { view: 'system', id: '', at: undefined, text: '', only: 'all' };

/** Reads a fragment, with or without its `#`; what it does not understand leads to the first view. */
export function readRoute(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#?\/?/, '').split('?', 2);
  const [name = '', ...rest] = path.split('/');
  const view = VIEWS.find((one) => one === name) ?? 'system';
  const parameters = new URLSearchParams(query);
  const at = Number(parameters.get('at') ?? Number.NaN);
  const only = parameters.get('only');
  return {
    view,
    id: decoded(rest.join('/')),
    at: Number.isSafeInteger(at) && at >= 0 ? at : undefined,
    text: parameters.get('text') ?? '',
    only: only === 'busy' || only === 'trouble' ? only : 'all',
  };
}

export function writeRoute(route: Partial<Route> & { readonly view: View }): string {
  const { view, id, at, text, only } = { ...START, ...route };
  const parameters = new URLSearchParams();
  if (at !== undefined) parameters.set('at', String(at));
  if (text !== '') parameters.set('text', text);
  if (only !== 'all') parameters.set('only', only);
  const query = parameters.toString();
  return `#/${view}${id === '' ? '' : `/${encodeURIComponent(id)}`}${query === '' ? '' : `?${query}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The token that a fragment brings, and the fragment without it. */
export function takeToken(fragment: string): { readonly token: string | undefined; readonly rest: string } {
  const found = /(^#?|[&?])token=([^&?]*)/.exec(fragment);
  if (found === null) return { token: undefined, rest: fragment };
  const rest = fragment.replace(found[0], found[1] === '?' ? '?' : '').replace(/\?$/, '');
  return { token: decoded(found[2] ?? ''), rest: rest === '#' || rest === '' ? '#/system' : rest };
}
