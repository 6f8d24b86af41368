/**
 * The groups of nodes in which each can reach each other (Tarjan 1972), without those that have no cycle.
 *
 * Written with its own stack: a recursive one, such as graphlib's, overflows on a chain of a few thousand imports.
 * `successors` is asked once for each node; the nodes of a component come in the order they were reached.
 */
export function strongComponents(count: number, successors: (node: number) => readonly number[]): number[][] {
  const reachedAt = new Int32Array(count).fill(-1);
  const lowest = new Int32Array(count);
  const isOpen = new Uint8Array(count);
  const open: number[] = [];
  const components: number[][] = [];
  const path: { node: number; next: readonly number[]; at: number }[] = [];
  let reached = 0;

  const enter = (node: number): void => {
    reachedAt[node] = lowest[node] = reached++;
    isOpen[node] = 1;
    open.push(node);
    path.push({ node, next: successors(node), at: 0 });
  };

  const leave = (node: number, next: readonly number[]): void => {
    path.pop();
    const parent = path.at(-1);
    if (parent !== undefined) lowest[parent.node] = Math.min(low(parent.node), low(node));
    if (low(node) !== reachedAt[node]) return;
    const component = open.splice(open.lastIndexOf(node));
    for (const member of component) isOpen[member] = 0;
    if (component.length > 1 || next.includes(node)) components.push(component);
  };

  const low = (node: number): number => lowest[node] as number;

  for (let root = 0; root < count; root++) {
    if (reachedAt[root] !== -1) continue;
    enter(root);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const target = step.next[step.at++];
      if (target === undefined) leave(step.node, step.next);
      else if (reachedAt[target] === -1) enter(target);
      else if (isOpen[target]) lowest[step.node] = Math.min(low(step.node), reachedAt[target] as number);
    }
  }
  return components;
}
