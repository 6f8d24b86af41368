import { readdirSync } from 'node:fs';
import type { Tool } from './tool.ts';

const FOLDER = new URL('./tools/', import.meta.url);

/** Loads all tools of the audit, sorted by name: those that the files `tools/*.tool.ts` export. */
export async function allTools(): Promise<readonly Tool[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.tool.ts'));
  const modules = await Promise.all(names.map((name) => import(new URL(name, FOLDER).href)));
  const exported = modules.flatMap((module) => Object.values(module as Record<string, unknown>)).flat();
  return exported.filter(isTool).sort((a, b) => (a.name < b.name ? -1 : 1));
}

const isTool = (value: unknown): value is Tool => {
  const { name, takes, run } = (value ?? {}) as Partial<Tool>;
  return typeof name === 'string' && typeof takes === 'function' && typeof run === 'function';
};
