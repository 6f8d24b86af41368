import { matchesGlob } from 'node:path';
import { Layers } from '../layers.ts';
import type { Hit, Tool } from '../tool.ts';
import { isScript } from './oxlint.ts';

type Layer = Layers[number];

/** Finds imports that the layers of the mission do not allow. */
export const layers: Tool = {
  name: 'layers',
  module: import.meta.url,
  packages: ['oxc-parser', 'oxc-resolver'],
  licence: 'MIT',
  home: 'https://oxc.rs',
  replaces: 'the rule architecture.layer',
  rules: {
    'layers/breach': { severity: 'medium', what: 'An import from a layer that this one may not import' },
  },
  nothing: 'no layers of scripts',
  takes: isScript,
  isNative: true,
  run: async ({ root, files, input }, progress) => {
    const named = Layers.parse(input['layers'] ?? []);
    if (named.length === 0) return { hits: [], filesSeen: 0 };
    const { ImportResolver, importsOf } = await import('./imports.ts');
    const { readSource } = await import('@orrery/ralph-loop/findings/read-source');
    const resolver = new ImportResolver(root);
    const known = new Map<string, Layer | undefined>();
    const layerOf = (file: string): Layer | undefined => {
      if (!known.has(file)) known.set(file, layerWith(named, file));
      return known.get(file);
    };
    const hits: Hit[] = [];
    for (const [index, file] of files.entries()) {
      progress(index, files.length);
      const layer = layerOf(file);
      const read = readSource(root, file);
      if (layer === undefined || 'skipped' in read) continue;
      for (const { specifier, offset } of importsOf(read.source)) {
        const target = resolver.resolve(file, specifier);
        if (typeof target === 'string') continue;
        const other = layerOf(target.file);
        if (other === undefined || other === layer || layer.mayImport.includes(other.name)) continue;
        hits.push({
          rule: 'layers/breach',
          severity: 'medium',
          file,
          ...read.source.positionAt(offset),
          message: `Layer ${layer.name} may not import layer ${other.name} (${target.file}). Turn the arrow round, or move what both need.`,
          trail: [file, target.file],
        });
      }
    }
    return { hits };
  },
};

const layerWith = (layers: readonly Layer[], file: string): Layer | undefined =>
  layers.find(({ match }) => match.some((glob) => matchesGlob(file, glob)));
