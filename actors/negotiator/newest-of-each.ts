/** What agents have said, with one thing more: of each agent its newest `most`. Nobody's pushes out that of another. */
export function newestOfEach<Said extends { readonly agentId: string }>(
  said: readonly Said[],
  more: Said,
  most: number,
): Said[] {
  const own = said.filter(({ agentId }) => agentId === more.agentId);
  const oldest = own.length < most ? undefined : own[0];
  return [...said.filter((one) => one !== oldest), more];
}
