import { RegistryView } from '../routing/registry-view.ts';
import type { RoutingTable } from '../routing/routing-table.ts';
import type { SeenTeam } from './interceptor.ts';
import type { Cell } from './cell.ts';

/** Who runs here, as far as the agent of a cell may see them: itself, and whom the sandbox lets it ask. */
export function seenTeam({ thread, row }: Cell): SeenTeam {
  const { table, judge } = thread;
  const view = new RegistryView(table, (seen) => seen === row || judge.isSeen(row.id, seen, true));
  return {
    get edition() {
      return table.edition;
    },
    cards: () => view.getLocalCards(),
    watch: (listener) => watchLater(table, listener),
  };
}

/** In the middle of a change nothing can be sent: whoever is told of it is told right afterwards. */
function watchLater(table: Pick<RoutingTable, 'watch'>, listener: () => void): () => void {
  let isWatching = true;
  const unwatch = table.watch(() =>
    queueMicrotask(() => {
      if (isWatching) listener();
    }),
  );
  return () => {
    isWatching = false;
    unwatch();
  };
}
