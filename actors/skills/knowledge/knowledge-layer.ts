import { z } from 'zod';

/** The layers of knowledge, the narrowest first. */
export const KNOWLEDGE_LAYERS = ['project', 'team', 'org', 'company'] as const;

/** For whom knowledge holds: one project, one team, one organisation, or the whole company. */
export const KnowledgeLayer = z.enum(KNOWLEDGE_LAYERS);
export type KnowledgeLayer = z.infer<typeof KnowledgeLayer>;

/** 1, a project's, to 4, the company's. */
export const knowledgeRankOf = (layer: KnowledgeLayer): number => KNOWLEDGE_LAYERS.indexOf(layer) + 1;

export const knowledgeLayerOf = (rank: number): KnowledgeLayer =>
  KNOWLEDGE_LAYERS[rank - 1] as KnowledgeLayer;
