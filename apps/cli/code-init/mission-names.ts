/** A name of a mission, and part of the name of a branch, after the name of a folder. */
export function plainName(folder: string): string {
  const name = folder.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^[-_]+|-+$/g, '');
  return name === '' ? 'mission' : name;
}

/** The name of a branch that is not there: `orrery/NAME`, else with a number. */
export function freeBranch(name: string, branches: readonly string[]): string {
  const taken = new Set(branches);
  // Git has no branch below another one.
  const wanted = taken.has('orrery') ? `orrery-${name}` : `orrery/${name}`;
  const isFree = (branch: string): boolean =>
    !branches.some((other) => other === branch || other.startsWith(`${branch}/`));
  for (let number = 1; ; number++) {
    const branch = number === 1 ? wanted : `${wanted}-${number}`;
    if (isFree(branch)) return branch;
  }
}
