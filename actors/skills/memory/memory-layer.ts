import { z } from 'zod';
import { type Role, WRITER_OF_LAYER } from '../role.ts';

/** The layers of memory, the most specific first (Aeterna's skills). */
export const MEMORY_LAYERS = ['agent', 'user', 'session', 'project', 'team', 'org', 'company'] as const;

/**
 * Whose a memory is.
 *
 * - `agent`, `user`, `session`        of one principal: of one of its agents, of all its work, of one conversation. Nobody else sees it.
 * - `project`, `team`, `org`, `company` of all in the tenant.
 */
export const MemoryLayer = z.enum(MEMORY_LAYERS);
export type MemoryLayer = z.infer<typeof MemoryLayer>;

/** 1, the most specific, to 7. */
export const rankOf = (layer: MemoryLayer): number => MEMORY_LAYERS.indexOf(layer) + 1;

export const layerOf = (rank: number): MemoryLayer => MEMORY_LAYERS[rank - 1] as MemoryLayer;

const FIRST_SHARED = rankOf('project');

/** Whether it is of all in the tenant. */
export const isShared = (rank: number): boolean => rank >= FIRST_SHARED;

const WRITERS: Readonly<Record<MemoryLayer, Role>> = {
  agent: 'developer',
  user: 'developer',
  session: 'developer',
  ...WRITER_OF_LAYER,
};

/** The role that it takes to write in a layer. */
export const writerOf = (layer: MemoryLayer): Role => WRITERS[layer];
