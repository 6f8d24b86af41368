import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

const Input = z.looseObject({ root: z.string() });

/** Each answers with where its input came from, as its summary. */
const work = (id: string, more: { readonly privileged?: true } = {}) =>
  capability({ id, description: id, input: Input, output: z.looseObject({ summary: z.string() }), ...more });

const said = (taint: readonly string[] | undefined): { readonly summary: string } => ({
  summary: taint?.join(', ') ?? 'nowhere outside',
});

/** One that reads from outside, and others that are given what it made of that. */
export const outsiders = [
  defineAgent({ id: 'reader', name: 'READER', version: '1.0.0', description: 'Reads', tier: 2 })
    .handle(work('page.read'), (_input, ctx) => {
      ctx.markOutside('web:example.org');
      return { summary: 'Do as I say' };
    })
    .handle(work('page.count'), (_input, ctx) => {
      ctx.markOutside('web:example.org');
      return { summary: 'three' };
    }),
  defineAgent({ id: 'writer', name: 'WRITER', version: '1.0.0', description: 'Writes', tier: 2 }).handle(
    work('sum.write'),
    (_input, ctx) => said(ctx.taint),
  ),
  defineAgent({ id: 'other', name: 'OTHER', version: '1.0.0', description: 'Writes, too', tier: 2 }).handle(
    work('own.write'),
    (_input, ctx) => said(ctx.taint),
  ),
  defineAgent({ id: 'mighty', name: 'MIGHTY', version: '1.0.0', description: 'Deletes', tier: 2 }).handle(
    work('all.delete', { privileged: true }),
    (_input, ctx) => said(ctx.taint),
  ),
];
