/** A swarm's id says who coordinates it, so that whoever knows the id can write to its coordinator. */
export const swarmIdOf = (ownerId: string, newId: string): string => `${newId}@${ownerId}`;

/** The owner of the swarm; undefined for what is no swarm's id. */
export function ownerOf(swarmId: string): string | undefined {
  const at = swarmId.indexOf('@');
  return at < 0 ? undefined : swarmId.slice(at + 1);
}
