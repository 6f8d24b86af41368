import type { SelectStmt } from 'libpg-query';
import type { SqlNode } from './parse-sql.ts';

/** Whether a view's query takes all columns of a table with `*`, so that a new column changes the view. */
export function readsEveryColumn(query: SqlNode | undefined): boolean {
  return query !== undefined && 'SelectStmt' in query && selectsAll(query.SelectStmt, new Set());
}

function selectsAll(select: SelectStmt, outer: ReadonlySet<string>): boolean {
  const { larg, rarg, targetList = [], fromClause = [], withClause } = select;
  const named = (withClause?.ctes ?? []).flatMap((cte) =>
    'CommonTableExpr' in cte ? (cte.CommonTableExpr.ctename ?? []) : [],
  );
  const queries = new Set([...outer, ...named]);
  if (larg !== undefined || rarg !== undefined) {
    return [larg, rarg].some((side) => side !== undefined && selectsAll(side, queries));
  }
  const tables = tablesIn(fromClause, queries);
  return targetList.some((target) => {
    const star = starOf(target);
    return star !== undefined && (star === '' ? tables.size > 0 : tables.has(star));
  });
}

/** What `*` is taken of: '' for everything; undefined where there is none. */
function starOf(target: SqlNode): string | undefined {
  if (!('ResTarget' in target)) return undefined;
  const { val } = target.ResTarget;
  if (val === undefined || !('ColumnRef' in val)) return undefined;
  const { fields = [] } = val.ColumnRef;
  const [last, qualifier] = [fields.at(-1), fields.at(-2)];
  if (last === undefined || !('A_Star' in last)) return undefined;
  return qualifier !== undefined && 'String' in qualifier ? (qualifier.String.sval ?? '') : '';
}

/** The names by which tables are read; what a query in the same statement yields has its columns written there. */
function tablesIn(from: readonly SqlNode[], queries: ReadonlySet<string>): Set<string> {
  const tables = new Set<string>();
  for (const source of from) {
    if ('RangeVar' in source) {
      const { relname = '', schemaname, alias } = source.RangeVar;
      if (schemaname !== undefined || !queries.has(relname)) tables.add(alias?.aliasname ?? relname);
    } else if ('JoinExpr' in source) {
      const { larg, rarg } = source.JoinExpr;
      for (const side of [larg, rarg]) {
        if (side !== undefined) for (const table of tablesIn([side], queries)) tables.add(table);
      }
    }
  }
  return tables;
}
