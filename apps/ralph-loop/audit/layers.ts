import { matchesGlob } from 'node:path';
import { z } from 'zod';
import type { ImportEdge, ImportGraph } from './import-graph.ts';

/**
 * What may import what.
 *
 * - `match`      globs of the layer's files, relative to the repository; a file belongs to the first layer that has it.
 * - `mayImport`  names of other layers. Files that belong to no layer may be imported by all.
 */
export const Layer = z.strictObject({
  name: z.string().min(1),
  match: z.array(z.string().min(1)).min(1),
  mayImport: z.array(z.string()).default([]),
});
export type Layer = z.infer<typeof Layer>;

export const Layers = z.array(Layer).superRefine((layers, context) => {
  const all = layers.map(({ name }) => name);
  const names = new Set(all);
  if (names.size < layers.length)
    context.addIssue({ code: 'custom', message: 'two layers have the same name', input: all });
  for (const [index, { name, mayImport }] of layers.entries()) {
    for (const unknown of mayImport.filter((other) => !names.has(other))) {
      const message = `layer "${name}" may import "${unknown}", which is no layer`;
      context.addIssue({ code: 'custom', message, path: [index, 'mayImport'], input: mayImport });
    }
  }
});

/** An import that its layer does not allow. */
export interface LayerBreach {
  readonly edge: ImportEdge;
  readonly message: string;
}

/** Every import from one layer into another that the first may not import. */
export function findLayerBreaches(graph: ImportGraph, layers: readonly Layer[]): LayerBreach[] {
  if (layers.length === 0) return [];
  const layerOf = graph.files.map((file) =>
    layers.find(({ match }) => match.some((glob) => matchesGlob(file, glob))),
  );
  return graph.files.flatMap((_file, id) => {
    const layer = layerOf[id];
    return [...graph.outgoing(id)].flatMap((edge) => {
      const target = layerOf[edge.to];
      if (layer === undefined || target === undefined || mayImport(layer, target)) return [];
      return [{ edge, message: breachMessage(layer.name, target.name, graph.nameOf(edge.to)) }];
    });
  });
}

const mayImport = (layer: Layer, target: Layer): boolean =>
  layer === target || layer.mayImport.includes(target.name);

const breachMessage = (layer: string, target: string, file: string): string =>
  `Layer ${layer} may not import layer ${target} (${file})`;
