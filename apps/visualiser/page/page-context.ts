import type { Remote } from 'comlink';
import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useReducer } from 'preact/hooks';
import type { Body, Query } from '../worker/look.ts';
import type { Draughtsman } from '../worker/drawing.worker.ts';
import type { PageState } from './page-state.ts';

/** What every component may need. */
export interface Page {
  readonly state: PageState;
  readonly draughtsman: Remote<Draughtsman>;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error('there is no page around this component');
  return page;
}

/** Draws the component anew when the page's state changes. */
export function useChanges(state: PageState): void {
  const [, changed] = useReducer((count: number) => count + 1, 0);
  useEffect(() => state.subscribe(() => changed(undefined)), [state]);
}

/** Asks for what a view shows; undefined until there is an answer to it. */
export function useBody<V extends Body['view']>(
  query: Query & { readonly view: V },
): (Body & { readonly view: V }) | undefined {
  const { state } = usePage();
  useLayoutEffect(() => state.ask(query), [state, JSON.stringify(query)]);
  const body = state.look?.body;
  return body?.view === query.view ? (body as Body & { readonly view: V }) : undefined;
}
