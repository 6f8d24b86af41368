/** A schema's name without its version, such as `agentmesh/travel/flight-search`, and the version. */
export interface SchemaId {
  readonly name: string;
  readonly version: number;
}

/** What `agentmesh/travel/flight-search/v1` says; undefined of what is no versioned id. */
export function parseSchemaId(id: string): SchemaId | undefined {
  const [, name, version] = /^(.+)\/v(\d+)$/.exec(id) ?? [];
  return name === undefined || version === undefined ? undefined : { name, version: Number(version) };
}

/**
 * The ids that both sides have: of each schema the highest version that they have in common, in the order of the first
 * side. An id without a version is common where both have it as it is.
 */
export function commonSchemas(ours: readonly string[], theirs: readonly string[]): string[] {
  const common = [...new Set(ours)].filter((id) => theirs.includes(id));
  const names = [...new Set(common.map((id) => parseSchemaId(id)?.name ?? id))];
  return names.map((name) => highest(common.filter((id) => (parseSchemaId(id)?.name ?? id) === name)));
}

const versionOf = (id: string): number => parseSchemaId(id)?.version ?? 0;

const highest = (ids: readonly string[]): string =>
  ids.reduce((best, id) => (versionOf(id) > versionOf(best) ? id : best));
