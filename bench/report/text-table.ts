/** Rows as lines, their columns below each other. */
export function textTable(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) => {
    return Math.max(...rows.map((row) => (column === row.length - 1 ? 0 : (row[column]?.length ?? 0))));
  });
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}
