import { z } from 'zod';

/** The layers of memory, the most specific first (Aeterna's skills). */
export const MEMORY_LAYERS = ['agent', 'user', 'session', 'project', 'team', 'org', 'company'] as const;

/**
 * Whose a memory is.
 *
 * - `agent`, `user`, `session`        of one agent, one user, one conversation: nobody else's.
 * - `project`, `team`, `org`, `company` of all who work there.
 */
export const MemoryLayer = z.enum(MEMORY_LAYERS);
export type MemoryLayer = z.infer<typeof MemoryLayer>;

/** 1, the most specific, to 7. */
export const rankOf = (layer: MemoryLayer): number => MEMORY_LAYERS.indexOf(layer) + 1;

export const layerOf = (rank: number): MemoryLayer => MEMORY_LAYERS[rank - 1] as MemoryLayer;
