import { RegistryView } from '../routing/registry-view.ts';
import type { SeenTeam } from './attendant.ts';
import type { Cell } from './cell.ts';

/** Who runs here, as far as the agent of a cell may see them: itself, and whom the sandbox lets it ask. */
export function seenTeam({ place, row }: Cell): SeenTeam {
  const { table, judge } = place;
  const view = new RegistryView(table, (seen) => seen === row || judge.isSeen(row.id, seen, true));
  return {
    get edition() {
      return table.edition;
    },
    cards: () => view.getLocalCards(),
    watch: (listener) => table.watch(listener),
  };
}
