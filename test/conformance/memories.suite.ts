import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MEMORY_LAYERS, type MemoryLayer } from '../../actors/skills/memory/memory-layer.ts';
import { Role } from '../../actors/skills/role.ts';
import type { SkillCaller } from '../../actors/skills/skill-caller.ts';
import type { SkillStore } from '../../actors/skills/store/skill-store.ts';
import { MemoriesRig, meaningOf, type SpokenMemories } from '../fixtures/skills/memories-rig.ts';
import { rejection } from '../fixtures/until.ts';

const SHARED: ReadonlySet<MemoryLayer> = new Set(['project', 'team', 'org', 'company']);

const of = (tenant: string, principalId: string, more: Partial<SkillCaller> = {}): SkillCaller => ({
  tenant,
  principalId,
  role: 'admin',
  agentId: undefined,
  ...more,
});

/** How a refusal looks to the caller, without the id that they named. */
async function toldOf(promise: Promise<unknown>, id: string) {
  const { code, message } = (await rejection(promise)) as { code: string; message: string };
  return { code, message: message.replaceAll(id, 'ID') };
}

const NOT_THERE = { code: 'REFUSED', message: 'There is no memory "ID"' };

/** What memories promise over every store. `open` gives a new connection to the same database each time. */
export function describeMemories(name: string, open: () => Promise<SkillStore>): void {
  describe(`Memories: ${name}`, () => {
    const rig = new MemoriesRig(open);
    let here: SpokenMemories;
    let there: SpokenMemories;
    let tenant: string;
    let alice: SkillCaller;
    let bob: SkillCaller;
    beforeAll(async () => {
      here = await rig.memories();
      there = await rig.memories();
    });
    afterAll(() => rig[Symbol.asyncDispose]());
    beforeEach(() => {
      tenant = rig.tenant();
      alice = of(tenant, 'key:alice');
      bob = of(tenant, 'key:bob');
    });
    const either = (at: number): SpokenMemories => (at % 2 === 0 ? here : there);

    describe('keep a text once (A-12)', () => {
      it('in its layer, owner and scope, and name the one that is there', async () => {
        const first = await here.add(alice, 'tabs, not spaces', { tags: ['style'] });
        const again = await there.add(alice, 'tabs, not spaces', { tags: ['other'] });
        expect(first).toMatchObject({ success: true, layer: 'user', scope: '', duplicate: false });
        expect(again).toMatchObject({ memory_id: first.memory_id, duplicate: true, similar: [] });
        expect(await here.all(alice)).toEqual([(await here.get(alice, first.memory_id)).memory]);
        expect((await here.stored(tenant)).counts).toMatchObject([{ memories: 1 }]);
      });

      it('and apart for another principal, scope, layer and tenant', async () => {
        const mars = { ...alice, agentId: 'mars' };
        const added = [
          await here.add(alice, 'deploy on Friday'),
          await here.add(bob, 'deploy on Friday'),
          await here.add(mars, 'deploy on Friday', { layer: 'agent' }),
          await here.add(alice, 'deploy on Friday', { layer: 'session', scope: 's1' }),
          await here.add(alice, 'deploy on Friday', { layer: 'session', scope: 's2' }),
          await here.add(alice, 'deploy on Friday', { layer: 'project', scope: 's1' }),
          await here.add(alice, 'deploy on Friday', { layer: 'team', scope: 's1' }),
          await here.add(of(rig.tenant(), 'key:alice'), 'deploy on Friday'),
        ];
        expect(added.map(({ duplicate }) => duplicate)).toEqual(added.map(() => false));
        expect(new Set(added.map(({ memory_id }) => memory_id)).size).toBe(added.length);
        expect(await here.add(bob, 'deploy on Friday', { layer: 'team', scope: 's1' })).toMatchObject({
          duplicate: true,
          memory_id: added[6]?.memory_id,
        });
      });

      it('when writers add it at the same time, over two connections', async () => {
        for (let round = 0; round < 10; round++) {
          const text = `the build is red ${round}`;
          const added = await Promise.all(Array.from({ length: 6 }, (_, at) => either(at).add(alice, text)));
          expect(new Set(added.map(({ memory_id }) => memory_id)).size).toBe(1);
          expect(added.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
        }
        const { memories, counts } = await here.stored(tenant);
        expect([memories.length, counts[0]?.memories]).toEqual([10, 10]);
      });

      it('also after a change: no other memory comes to say what one says already', async () => {
        const one = await here.put(alice, 'the port is 80');
        const other = await here.put(alice, 'the port is 443');
        const told = await toldOf(there.update(alice, other, { content: 'the port is 80' }), one);
        expect(told).toEqual({ code: 'REFUSED', message: 'It is remembered already, as "ID"' });
        expect((await here.get(alice, other)).memory).toMatchObject({
          content: 'the port is 443',
          version: 1,
        });
        expect(await here.update(alice, one, { content: 'the port is 80' })).toMatchObject({ version: 1 });
        const bobs = await here.put(bob, 'the port is 8080');
        expect(await here.update(bob, bobs, { content: 'the port is 80' })).toMatchObject({ version: 2 });
      });
    });

    describe('give back what they were told, as it was', () => {
      const TEXTS = [
        'Grüße, 世界 – עברית \u202e!',
        '👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301 é',
        'one\r\ntwo\rthree\n\n four\t\u2028five ',
        '\'; drop table memories; -- " \\ $1 ?1 :a',
        'title NEAR/2 body AND NOT (x OR "y") col:* ^z',
        '%_ \\% [a-z]* {}',
        '{"json": [null, "\\u0000"]}',
        ' ',
        '\u{10ffff}\u0001',
        '𝒳'.repeat(16_384),
        'x'.repeat(32_768),
      ];

      it.each(TEXTS.map((text, at) => [at, text.slice(0, 20), text] as const))(
        'text %i: %j',
        async (_, __, text) => {
          const id = await here.put(alice, text, {
            metadata: { said: text.slice(0, 100) },
            tags: ['%', "o'x"],
          });
          const { memory } = await there.get(alice, id);
          expect(memory).toMatchObject({
            content: text,
            metadata: { said: text.slice(0, 100) },
            tags: ['%', "o'x"],
          });
          expect(await here.all(alice, { tags: ['%'] })).toEqual([memory]);
          expect((await here.export(alice)).memories).toEqual([{ ...memory, history: [] }]);
          expect(await here.add(alice, text)).toMatchObject({ duplicate: true, memory_id: id });
        },
      );

      it('whatever it is (property)', async () => {
        const text = fc
          .string({ unit: 'binary', minLength: 1, maxLength: 200 })
          .filter((t) => !t.includes('\0'));
        await fc.assert(
          fc.asyncProperty(text, text, async (content, next) => {
            const carol = of(rig.tenant(), 'key:carol');
            const id = await here.put(carol, content, { subject: 'x' });
            expect((await there.get(carol, id)).memory.content).toBe(content);
            await here.update(carol, id, { content: next });
            expect((await there.get(carol, id)).memory.content).toBe(next);
          }),
          { numRuns: 30 },
        );
      });

      it('take any query for words (A-13)', async () => {
        const id = await here.put(alice, 'NEAR the table of memories');
        for (const query of [...TEXTS.map((text) => text.slice(0, 4_096)), '"', '*', 'a:b', '-', 'NOT'])
          expect((await here.search(alice, query)).success).toBe(true);
        expect(await here.found(alice, '"; drop TABLE memories')).toEqual([id]);
        expect(await here.found(alice, 'NEAR/2')).toEqual([id]);
        expect(await here.found(alice, '%')).toEqual([]);
      });

      it.each(['a\0b', '\0', 'a\ud800', "' or 1=1 --", '%', 'x'.repeat(200)])(
        'know no memory with the id %j',
        async (id) => {
          await here.put(alice, 'something');
          expect(await toldOf(here.memories.get(alice, id, true), id)).toEqual(NOT_THERE);
          expect(await toldOf(here.memories.update(alice, id, { tags: [] }, undefined), id)).toEqual(
            NOT_THERE,
          );
          expect(await toldOf(here.memories.delete(alice, id), id)).toEqual(NOT_THERE);
        },
      );
    });

    describe('notice what is there beside (A-12)', () => {
      it('what says something else about the subject, the most specific first, of those that the caller may see', async () => {
        const subject = 'port';
        for (const text of ['it is 1', 'it is one', 'one', 'no. 1', 'number 1', 'the first'])
          await here.put(bob, text, { subject });
        await here.put({ ...alice, agentId: 'venus' }, 'it is 2', { subject, layer: 'agent' });
        const company = await here.put(alice, 'it is 80', { subject, layer: 'company' });
        const project = await here.put(alice, 'it is 443', { subject, layer: 'project', scope: 'p' });
        await here.put(alice, 'it is 8080', { subject: 'ports' });
        await here.put(alice, 'it is 9', { subject, layer: 'team', validUntil: rig.nowMs });
        const added = await there.add({ ...alice, agentId: 'mars' }, 'it is 8080', { subject });
        expect(added.contradicts).toEqual([
          { memory_id: project, layer: 'project', scope: 'p', content: 'it is 443' },
          { memory_id: company, layer: 'company', scope: '', content: 'it is 80' },
        ]);
        const agreed = await here.add(alice, 'it is 80', { subject, layer: 'org' });
        expect(agreed.contradicts.map(({ memory_id }) => memory_id)).not.toContain(company);
        const changed = await here.update(bob, project, { content: 'it is 80' });
        expect(changed.contradicts.map(({ layer }) => layer)).toEqual(Array(5).fill('user'));
      });

      it('with where that came from', async () => {
        await here.add(alice, 'it is 80', { subject: 'port', taint: ['web:example.org'] });
        const { contradicts } = await here.add(alice, 'it is 81', { subject: 'port' });
        expect(contradicts).toMatchObject([{ content: 'it is 80', taint: ['web:example.org'] }]);
      });

      it('also when both are said at the same time, at least to one of them', async () => {
        for (let round = 0; round < 10; round++) {
          const said = await Promise.all(
            ['80', '443'].map((port, at) =>
              either(at).add(alice, `${port} ${round}`, { subject: `port ${round}` }),
            ),
          );
          expect(said.flatMap(({ contradicts }) => contradicts)).not.toEqual([]);
        }
      });

      it('texts of the same place that share four in five of their words, and no others', async () => {
        const words = 'alpha bravo charlie delta echo foxtrot golf hotel india';
        const nine = await here.put(alice, words);
        await here.put(bob, words);
        await here.put(alice, words, { layer: 'project', scope: 'p' });
        await here.put(alice, 'alpha bravo charlie delta echo foxtrot golf xray yankee');
        await here.put(alice, `${words} gone`, { validUntil: rig.nowMs });
        const added = await there.add(alice, `INDIA ${words} juliet`);
        expect(added.similar).toEqual([{ memory_id: nine, similarity: 0.9 }]);
        await here.delete(alice, nine);
        expect((await there.add(alice, `${words} kilo`)).similar).toMatchObject([
          { memory_id: added.memory_id, similarity: 9 / 11 },
        ]);
      });

      it('not more than five of each', async () => {
        for (let at = 0; at < 8; at++)
          await here.put(alice, `one two three four five six ${at}`, { subject: 'count' });
        const added = await here.add(alice, 'one two three four five six x', { subject: 'count' });
        expect([added.contradicts.length, added.similar.length]).toEqual([5, 0]);
        await here.put(alice, 'one two three four five six');
        const more = await Promise.all(
          [9, 10].map((at) => here.add(alice, `six five four three two one ${at}`)),
        );
        expect(more.map(({ similar }) => similar.length)).toEqual([1, 1]);
      });
    });

    describe('put the more specific first (A-13, C-22)', () => {
      const marked = async (caller: SkillCaller, query: string, more = {}) =>
        (await here.search(caller, query, more)).results.map(({ memory_id, shadowed, shadowedBy }) => [
          memory_id,
          shadowed,
          shadowedBy,
        ]);

      it('and mark what it contradicts, by which, also when that is not among what is found', async () => {
        const subject = 'indentation';
        const org = await here.put(alice, 'use spaces everywhere', { subject, layer: 'org' });
        const team = await here.put(alice, 'use tabs', { subject, layer: 'team' });
        expect(await marked(alice, 'spaces everywhere')).toEqual([[org, true, team]]);
        expect(await marked(alice, 'use', { layers: ['org'] })).toEqual([[org, true, team]]);
        expect(await marked(alice, 'use', { limit: 1 })).toHaveLength(1);
        expect(await marked(alice, 'tabs')).toEqual([[team, false, undefined]]);
      });

      it('and of one place the later', async () => {
        const subject = 'home';
        const first = await here.put(alice, 'she lives in Berlin', { subject });
        rig.nowMs += 1;
        const second = await here.put(alice, 'she lives in Munich', { subject });
        const other = await here.put(alice, 'she lives in Rome', { subject, layer: 'project', scope: 'p' });
        const third = await here.put(alice, 'she lives in Oslo', { subject, layer: 'project', scope: 'q' });
        expect(await marked(alice, 'Berlin')).toEqual([[first, true, second]]);
        expect(await marked(alice, 'Munich')).toEqual([[second, false, undefined]]);
        for (const id of [other, third]) {
          const { content } = (await here.get(alice, id)).memory;
          expect(await marked(alice, content.split(' ')[3] as string)).toEqual([[id, true, second]]);
          expect(await marked(bob, content.split(' ')[3] as string)).toEqual([[id, false, undefined]]);
        }
      });

      it('and do not take a new tag for saying it again', async () => {
        const subject = 'home';
        const first = await here.put(alice, 'she lives in Berlin', { subject });
        rig.nowMs += 1;
        const second = await here.put(alice, 'she lives in Munich', { subject });
        rig.nowMs += 1;
        await here.update(alice, first, { tags: ['city'], importance: 1 });
        expect(await marked(alice, 'Berlin')).toEqual([[first, true, second]]);
        await here.update(alice, first, { content: 'she lives in Berlin again' });
        expect(await marked(alice, 'Munich')).toEqual([[second, true, first]]);
      });

      it('and mark nothing by what the caller may not see, or what does not hold then', async () => {
        const subject = 'port';
        const company = await here.put(alice, 'the port is 80', { subject, layer: 'company' });
        await here.put(bob, 'my port is 1', { subject });
        await here.put({ ...alice, agentId: 'venus' }, 'a port of 2', { subject, layer: 'agent' });
        const later = await here.put(alice, 'a new port', {
          subject,
          layer: 'org',
          validFrom: rig.nowMs + 10,
          validUntil: rig.nowMs + 20,
        });
        const mars = { ...alice, agentId: 'mars' };
        const at = (ms: number) => marked(mars, '80', { at: rig.nowMs + ms });
        expect(await marked(mars, '80')).toEqual([[company, false, undefined]]);
        expect(await at(9)).toEqual([[company, false, undefined]]);
        expect(await at(10)).toEqual([[company, true, later]]);
        expect(await at(20)).toEqual([[company, false, undefined]]);
        const carols = of(rig.tenant(), 'key:alice');
        await here.put(carols, 'no port', { subject });
        expect(await marked(mars, '80')).toEqual([[company, false, undefined]]);
      });

      it('and no more by what is gone, or says the same', async () => {
        const subject = 'port';
        const company = await here.put(alice, 'the port is 80', { subject, layer: 'company' });
        const user = await here.put(alice, 'the port is 81', { subject });
        expect(await marked(alice, '80')).toEqual([[company, true, user]]);
        await there.update(alice, user, { content: 'the port is 80' });
        expect(await marked(alice, '80', { layer: 'company' })).toEqual([[company, false, undefined]]);
        await there.update(alice, user, { content: 'the port is 82' });
        expect(await marked(alice, '80')).toEqual([[company, true, user]]);
        await there.delete(alice, user);
        expect(await marked(alice, '80')).toEqual([[company, false, undefined]]);
      });

      it('and name only what holds: what agrees with that holds too', async () => {
        const subject = 'port';
        const org = await here.put(alice, 'listen on 80', { subject, layer: 'org' });
        const project = await here.put(alice, 'listen on 443', { subject, layer: 'project' });
        expect(await marked(alice, '80')).toEqual([[org, true, project]]);
        const user = await here.put(alice, 'listen on 80', { subject });
        expect(await marked(alice, '80')).toEqual([
          [user, false, undefined],
          [org, false, undefined],
        ]);
        expect(await marked(alice, '443')).toEqual([[project, true, user]]);
        expect(await marked(bob, '80')).toEqual([[org, true, project]]);
      });

      it('of those that may be changed too, as many as are wanted', async () => {
        const ids: string[] = [];
        for (const layer of ['company', 'project', 'user'] as const)
          ids.push(await here.put(alice, `says ${layer}`, { subject: 's', layer, validUntil: rig.nowMs }));
        const about = async (caller: SkillCaller, most: number) =>
          (await there.memories.changeableAbout(caller, 's', most)).map(({ memory_id }) => memory_id);
        expect(await about(alice, 9)).toEqual([...ids].reverse());
        expect(await about(alice, 2)).toEqual([ids[2], ids[1]]);
        expect(await about({ ...bob, role: 'developer' }, 9)).toEqual([ids[1]]);
      });

      it('and sort what fits equally well by layer, of however many', async () => {
        const shared = [...MEMORY_LAYERS].reverse();
        for (const layer of shared) await here.put(alice, 'release on Monday', { layer, scope: 'x' });
        const { results } = await here.search({ ...alice, agentId: 'x' }, 'monday release');
        expect(results.map(({ layer }) => layer)).toEqual([...MEMORY_LAYERS]);
        expect(new Set(results.map(({ score }) => score)).size).toBe(1);
        for (let at = 0; at < 40; at++)
          await here.put(bob, 'standup at nine', { layer: 'company', scope: `c${at}` });
        const own = await here.put(alice, 'standup at nine');
        expect(await here.found(alice, 'standup', { limit: 1 })).toEqual([own]);
      });

      it('and rank by relevance before that', async () => {
        await here.put(alice, 'the cat sat on the mat with a hat', { layer: 'user' });
        const best = await here.put(alice, 'cat hat', { layer: 'company' });
        const results = await here.found(alice, 'cat hat');
        expect([results[0], results.length]).toEqual([best, 2]);
      });
    });

    describe('find what is asked for (A-13)', () => {
      it('at a moment: from when it holds, until right before it does not', async () => {
        const { nowMs } = rig;
        const from = await here.put(alice, 'rule from', { validFrom: nowMs + 5 });
        const until = await here.put(alice, 'rule until', { validUntil: nowMs + 5 });
        const always = await here.put(alice, 'rule always');
        const at = async (ms?: number) =>
          (await there.found(alice, 'rule', ms === undefined ? {} : { at: nowMs + ms })).toSorted();
        expect(await at()).toEqual([until, always].toSorted());
        expect(await at(4)).toEqual([until, always].toSorted());
        expect(await at(5)).toEqual([from, always].toSorted());
        rig.nowMs += 5;
        expect(await at()).toEqual([from, always].toSorted());
        await here.update(alice, from, { validFrom: null, validUntil: nowMs + 1 });
        expect(await at(0)).toEqual([from, until, always].toSorted());
        expect(await at()).toEqual([always]);
      });

      it('never one that ends before it begins', async () => {
        const wrong = { validFrom: 10, validUntil: 10 };
        await expect(here.add(alice, 'never', wrong)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
        const id = await here.put(alice, 'sometimes', { validFrom: 10 });
        const before = await here.stored(tenant);
        await expect(here.update(alice, id, { content: 'never', validUntil: 9 })).rejects.toMatchObject({
          code: 'INVALID_PAYLOAD',
        });
        expect(await here.stored(tenant)).toEqual(before);
      });

      it('with all its tags, in its layers and scope, as many as are wanted, above a score', async () => {
        const one = await here.put(alice, 'note one', { tags: ['a', 'b'], layer: 'project', scope: 'p' });
        const two = await here.put(alice, 'note two', { tags: ['a'], layer: 'project', scope: 'q' });
        const three = await here.put(alice, 'note three', { tags: ['b', 'a'], layer: 'org' });
        const four = await here.put(alice, 'note');
        const found = async (more: object) => (await here.found(alice, 'note', more)).toSorted();
        expect(await found({})).toEqual([one, two, three, four].toSorted());
        expect(await found({ tags: ['a'] })).toEqual([one, two, three].toSorted());
        expect(await found({ tags: ['a', 'b'] })).toEqual([one, three].toSorted());
        expect(await found({ tags: ['A'] })).toEqual([]);
        expect(await found({ scope: 'p' })).toEqual([one]);
        expect(await found({ layer: 'org' })).toEqual([three]);
        expect(await found({ layers: ['org', 'user'], layer: 'project' })).toHaveLength(4);
        const some = await here.search(alice, 'note', { layers: ['company', 'user'], limit: 3 });
        expect(some).toMatchObject({ totalCount: 1, searchedLayers: ['user', 'company'], embedding: null });
        expect(await here.found(alice, 'note', { limit: 1 })).toEqual([four]);
        const scores = (await here.search(alice, 'note')).results.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        expect(await found({ minScore: scores[0] })).toEqual([four]);
        expect(await found({ minScore: 1.5 })).toEqual([]);
      });

      it('though what it contradicts is found before it, where only what holds is wanted', async () => {
        const holds = await here.put(alice, 'note of the harbour at noon', {
          subject: 's',
          layer: 'project',
        });
        const shadowed = await here.put(alice, 'note', { subject: 's', layer: 'org' });
        expect(await here.found(alice, 'note', { limit: 1 })).toEqual([shadowed]);
        expect(await here.found(alice, 'note', { limit: 1, withShadowed: false })).toEqual([holds]);
        expect(await here.found(alice, 'note', { withShadowed: false })).toEqual([holds]);
        expect(await here.found(alice, 'note', { withShadowed: true })).toEqual([shadowed, holds]);
      });

      it('in its current words, and not in those that it had', async () => {
        const id = await here.put(alice, 'the office is in Vienna');
        expect(await there.found(alice, 'vienna')).toEqual([id]);
        await here.update(alice, id, { content: 'the office is in Graz' });
        for (const memories of [here, there]) {
          expect(await memories.found(alice, 'vienna')).toEqual([]);
          expect(await memories.found(alice, 'graz')).toEqual([id]);
        }
      });

      it('also among more than are read at a time', async () => {
        const first = await here.put(alice, 'first one', { layer: 'project' });
        const many = Array.from({ length: 1_203 }, (_, at) => ({
          id: `c${at}`,
          content: `copy number${at}`,
        }));
        await there.copies(tenant, first, many);
        for (const at of [0, 499, 500, 1_202])
          expect(await here.found(bob, `number${at} ${at}`)).toContain(`c${at}`);
        expect(await here.all(bob, { limit: 500 })).toHaveLength(1_204);
        expect(await here.found(bob, 'copy', { limit: 100 })).toHaveLength(100);
      });

      it('by meaning, once a memory has a vector of the model', async () => {
        const cat = await here.put(alice, 'felis catus');
        const dog = await here.put(alice, 'canis lupus');
        await here.put(bob, 'felis silvestris');
        const meaning = meaningOf([1, 0, 0, 0]);
        const search = async (by = there) => {
          const { results, embedding } = await by.search(alice, 'kitten', {}, meaning);
          expect(embedding).toBe(meaning.model);
          return results.map(({ memory_id }) => memory_id);
        };
        expect(await search()).toEqual([]);
        await here.embed(tenant, cat, [1, 0.1, 0, 0]);
        await here.embed(tenant, dog, [1, 0, 0, 0], 'of another');
        expect(await search()).toEqual([cat]);
        await here.update(alice, cat, { tags: ['x'] });
        expect(await search()).toEqual([cat]);
        await here.update(alice, cat, { content: 'a stone' });
        expect((await here.stored(tenant)).vectors.map(({ id }) => id)).toEqual([dog]);
        expect([await search(), await search(here)]).toEqual([[], []]);
        await here.embed(tenant, cat, [1, 0, 0.1, 0]);
        expect([await search(), await search(here)]).toEqual([[cat], [cat]]);
        await there.delete(alice, cat);
        expect([await search(), await search(here)]).toEqual([[], []]);
      });
    });

    describe('keep what they said before', () => {
      it('in its history and in the export, with who wrote it and when', async () => {
        const { nowMs } = rig;
        const id = await here.put(alice, 'one', { layer: 'project' });
        rig.nowMs += 5;
        expect(await here.update(bob, id, { content: 'two', tags: ['t'] })).toMatchObject({ version: 2 });
        rig.nowMs += 5;
        expect(await here.update(alice, id, { content: 'three' })).toMatchObject({ version: 3 });
        const history = [
          { version: 1, content: 'one', author: 'key:alice', writtenAt: nowMs },
          { version: 2, content: 'two', author: 'key:bob', writtenAt: nowMs + 5 },
        ];
        const { memory } = await there.get(alice, id);
        expect(memory).toMatchObject({ content: 'three', version: 3, author: 'key:alice', tags: ['t'] });
        expect(memory).toMatchObject({ createdAt: nowMs, updatedAt: nowMs + 10 });
        expect(await there.get(alice, id, true)).toEqual({ success: true, memory, history });
        expect((await there.export(bob)).memories).toEqual([{ ...memory, history }]);
      });

      it('and make no version where nothing new is said', async () => {
        const id = await here.put(alice, 'same', { layer: 'project', subject: 's' });
        const { nowMs } = rig;
        rig.nowMs += 5;
        const changed = await here.update(bob, id, {
          content: 'same',
          tags: ['a'],
          importance: 0.9,
          metadata: { of: ['what'] },
          validFrom: 1,
          validUntil: null,
        });
        expect(changed).toMatchObject({ memory_id: id, version: 1 });
        rig.nowMs += 5;
        await here.update(bob, id, { content: 'other' });
        const { memory, history } = await here.get(alice, id, true);
        expect(memory).toMatchObject({
          tags: ['a'],
          importance: 0.9,
          metadata: { of: ['what'] },
          validFrom: 1,
        });
        expect(history).toEqual([{ version: 1, content: 'same', author: 'key:alice', writtenAt: nowMs }]);
      });

      it('and where it came from, also what came later', async () => {
        const { memory_id: id } = await here.add(alice, 'one', { taint: ['web:a'] });
        await here.update(alice, id, { content: 'two' }, ['mcp:b']);
        await here.update(alice, id, { content: 'three' });
        expect((await here.get(alice, id)).memory.taint?.toSorted()).toEqual(['mcp:b', 'web:a']);
      });

      it('and lose no change of those that are made at the same time', async () => {
        for (let round = 0; round < 8; round++) {
          const id = await here.put(alice, `draft ${round}`);
          await Promise.all([
            here.update(alice, id, { content: `a ${round}` }),
            there.update(alice, id, { content: `b ${round}` }),
            here.update(alice, id, { tags: ['t'] }),
            there.update(alice, id, { importance: 1 }),
          ]);
          const { memory, history = [] } = await here.get(alice, id, true);
          expect(memory).toMatchObject({ version: 3, tags: ['t'], importance: 1 });
          const said = [...history.map(({ content }) => content), memory.content];
          expect([said[0], said.slice(1).toSorted()]).toEqual([
            `draft ${round}`,
            [`a ${round}`, `b ${round}`],
          ]);
        }
      });
    });

    describe('forget what is deleted (A-14)', () => {
      it('wherever it could be seen, with all that it said before', async () => {
        const id = await here.put(alice, 'secret alpha', { subject: 's', layer: 'project' });
        await here.update(alice, id, { content: 'secret beta' });
        await here.embed(tenant, id, [1, 0]);
        await there.search(alice, 'secret');
        expect(await here.delete(alice, id)).toBe(true);
        for (const memories of [here, there]) {
          expect((await memories.search(alice, 'secret', {}, meaningOf([1, 0]))).results).toEqual([]);
          expect(await toldOf(memories.get(alice, id, true), id)).toEqual(NOT_THERE);
          expect(await toldOf(memories.update(alice, id, { content: 'x' }), id)).toEqual(NOT_THERE);
          expect(await memories.all(alice)).toEqual([]);
          expect((await memories.export(alice)).memories).toEqual([]);
          expect(await memories.memories.changeableAbout(alice, 's', 10)).toEqual([]);
        }
        const { memories, versions, vectors, counts } = await here.stored(tenant);
        expect([memories, versions, vectors, counts[0]?.memories]).toEqual([[], [], [], 0]);
        expect(await here.add(alice, 'secret beta', { layer: 'project' })).toMatchObject({
          duplicate: false,
        });
      });

      it('and nothing else', async () => {
        const [gone, ...others] = await Promise.all(
          ['a', 'b', 'c'].map((text) => here.put(alice, `note ${text}`)),
        );
        for (const id of others) await here.update(alice, id, { content: `note of ${id}` });
        await here.delete(alice, gone as string);
        expect((await there.found(alice, 'note')).toSorted()).toEqual(others.toSorted());
        for (const id of others) expect((await here.get(alice, id, true)).history).toHaveLength(1);
      });

      it('and say of it that it was, to who could see it; to others that it is not there', async () => {
        const own = await here.put(alice, 'mine');
        const agents = await here.put({ ...alice, agentId: 'mars' }, 'of mars', { layer: 'agent' });
        const team = await here.put(alice, 'of the team', { layer: 'team' });
        for (const id of [own, agents, team]) expect(await here.delete(alice, id)).toBe(true);
        for (const id of [own, agents, team]) expect(await there.delete(alice, id)).toBe(false);
        expect(await here.delete(bob, team)).toBe(false);
        expect(await toldOf(here.delete(bob, own), own)).toEqual(NOT_THERE);
        expect(await toldOf(here.delete(of(rig.tenant(), 'key:alice'), team), team)).toEqual(NOT_THERE);
        const venus = { ...alice, agentId: 'venus' };
        expect(await toldOf(here.delete(venus, agents), agents)).toEqual(NOT_THERE);
        expect(await toldOf(here.delete({ ...bob, role: 'developer' }, team), team)).toMatchObject({
          code: 'NOT_PERMITTED',
        });
        expect((await here.stored(tenant)).counts).toMatchObject([{ memories: 0 }]);
      });

      it('once, of however many who delete it at the same time', async () => {
        for (let round = 0; round < 8; round++) {
          const id = await here.put(alice, 'short of life');
          const told = await Promise.all(Array.from({ length: 4 }, (_, at) => either(at).delete(alice, id)));
          expect(told.toSorted()).toEqual([false, false, false, true]);
        }
        expect((await here.stored(tenant)).counts).toMatchObject([{ memories: 0 }]);
      });

      it('also while it is changed', async () => {
        for (let round = 0; round < 8; round++) {
          const id = await here.put(alice, 'short of life');
          const [changed, deleted] = await Promise.allSettled([
            here.update(alice, id, { content: `changed ${round}` }),
            there.delete(alice, id),
          ]);
          expect(deleted).toEqual({ status: 'fulfilled', value: true });
          if (changed.status === 'rejected') expect(changed.reason).toMatchObject({ code: 'REFUSED' });
        }
        const { memories, versions, vectors, removed } = await here.stored(tenant);
        expect([memories, versions, vectors, removed.length]).toEqual([[], [], [], 8]);
      });
    });

    describe('are seen by those whose they are alone (A-05)', () => {
      const seenBy = async (caller: SkillCaller, id: string, subject: string) => {
        const own = await here.get(caller, id).then(
          () => true,
          () => false,
        );
        const seen = {
          found: (await here.found(caller, 'marker')).includes(id),
          listed: (await here.all(caller)).some(({ memory_id }) => memory_id === id),
          exported: (await here.export(caller)).memories.some(({ memory_id }) => memory_id === id),
          got: own,
          changeable: (await here.memories.changeableAbout(caller, subject, 10)).length > 0,
        };
        expect(new Set(Object.values(seen)).size, JSON.stringify(seen)).toBe(1);
        return own;
      };

      it.each(MEMORY_LAYERS)('in the layer %s', async (layer) => {
        const mars = { ...alice, agentId: 'mars' };
        const id = await here.put(mars, 'marker text', { layer, scope: 'mars', subject: 's' });
        const isShared = SHARED.has(layer);
        expect(await seenBy(mars, id, 's')).toBe(true);
        expect(await seenBy(alice, id, 's')).toBe(true);
        expect(await seenBy({ ...alice, agentId: 'venus' }, id, 's')).toBe(layer !== 'agent');
        expect(await seenBy(bob, id, 's')).toBe(isShared);
        expect(await seenBy({ ...bob, agentId: 'mars' }, id, 's')).toBe(isShared);
        expect(await seenBy(of(rig.tenant(), 'key:alice', { agentId: 'mars' }), id, 's')).toBe(false);
      });

      it.each(MEMORY_LAYERS)(
        'and in the layer %s are told to others to be not there, whatever they try',
        async (layer) => {
          const mars = { ...alice, agentId: 'mars' };
          const id = await here.put(mars, 'marker text', { layer, scope: 'mars' });
          const strangers = [
            of(rig.tenant(), 'key:alice', { agentId: 'mars' }),
            ...(SHARED.has(layer) ? [] : [bob, { ...bob, agentId: 'mars' }]),
            ...(layer === 'agent' ? [{ ...alice, agentId: 'venus' }] : []),
          ];
          const before = await here.stored(tenant);
          for (const stranger of strangers) {
            expect(await toldOf(here.get(stranger, id), id)).toEqual(NOT_THERE);
            expect(await toldOf(here.update(stranger, id, { content: 'mine now' }), id)).toEqual(NOT_THERE);
            expect(await toldOf(here.delete(stranger, id), id)).toEqual(NOT_THERE);
          }
          expect(await here.stored(tenant)).toEqual(before);
        },
      );

      it('and an agent writes nothing into what is of another, nor learns whether that is there', async () => {
        await here.put({ ...alice, agentId: 'mars' }, 'marker', { layer: 'agent' });
        const venus = { ...alice, agentId: 'venus' };
        const told = here.add(venus, 'marker', { layer: 'agent', scope: 'mars' });
        await expect(told).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
        const own = await here.add(alice, 'marker', { layer: 'agent', scope: 'mars' });
        expect(own.duplicate).toBe(true);
      });

      it('and a tenant has nothing of another, also under the same ids', async () => {
        let next = 0;
        const kept = await rig.memories({ newSecret: () => `same-${++next}` });
        const carol = of(rig.tenant(), 'key:alice');
        const ids = [];
        for (const caller of [alice, carol]) {
          next = 0;
          const id = await kept.put(caller, `marker of ${caller.tenant}`, { layer: 'company', subject: 's' });
          await kept.update(caller, id, { content: `marker again of ${caller.tenant}` });
          await kept.embed(caller.tenant, id, [1, 0]);
          ids.push(id);
        }
        expect(ids).toEqual(['same-1', 'same-1']);
        const before = await kept.stored(tenant);
        await kept.update(carol, 'same-1', { content: 'marker third' });
        await kept.delete(carol, 'same-1');
        expect(await kept.stored(tenant)).toEqual(before);
        expect((await kept.get(alice, 'same-1', true)).history).toMatchObject([
          { content: `marker of ${tenant}` },
        ]);
        for (const memories of [here, kept]) {
          expect(await memories.found(alice, 'marker')).toEqual(['same-1']);
          expect(await memories.found(carol, 'marker')).toEqual([]);
        }
        expect((await here.search(alice, 'nothing', {}, meaningOf([1, 0]))).results).toHaveLength(1);
      });

      const MAY_WRITE: Readonly<Record<MemoryLayer, readonly Role[]>> = (() => {
        const admins: Role[] = ['admin', 'tenant-admin', 'platform-admin', 'operator'];
        const org: Role[] = ['architect', ...admins];
        const team: Role[] = ['tech-lead', ...org];
        const all: Role[] = ['agent', 'developer', ...team];
        return { agent: all, user: all, session: all, project: all, team, org, company: admins };
      })();

      it.each(MEMORY_LAYERS)('and are written in the layer %s by the roles that may', async (layer) => {
        const id = await here.put(alice, 'marker', { layer, scope: 'x', subject: 's' });
        for (const role of Role.options) {
          const caller = { ...alice, role };
          const may = MAY_WRITE[layer].includes(role);
          const tries = [
            () => here.add(caller, `note of ${role}`, { layer, scope: 'x' }),
            () => here.update(caller, id, { tags: [role] }),
            async () => here.delete(caller, await here.put(alice, 'to go', { layer, scope: 'x' })),
          ];
          for (const act of tries)
            if (may) await act();
            else await expect(act()).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
          expect((await here.get(caller, id)).memory.tags.includes(role)).toBe(may);
          expect(await here.memories.changeableAbout(caller, 's', 10)).toHaveLength(may ? 1 : 0);
        }
      });
    });

    describe('are not more than a tenant may have', () => {
      it('and a refused one leaves nothing behind', async () => {
        const few = await rig.memories({ most: 3 });
        const ids = await Promise.all(['a', 'b', 'c'].map((text) => few.put(alice, `note ${text}`)));
        const before = await few.stored(tenant);
        expect(before.counts).toMatchObject([{ memories: 3 }]);
        const more = few.add(bob, 'note d', { layer: 'project' });
        await expect(more).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', details: { limit: 3 } });
        expect(await few.stored(tenant)).toEqual(before);
        expect(await few.found(bob, 'note')).toEqual([]);
        expect(await few.add(alice, 'note a')).toMatchObject({ duplicate: true, memory_id: ids[0] });
        expect(await few.update(alice, ids[0] as string, { content: 'note e' })).toMatchObject({
          version: 2,
        });
        expect(await few.add(of(rig.tenant(), 'key:alice'), 'note d')).toMatchObject({ duplicate: false });
        expect(await few.delete(alice, ids[1] as string)).toBe(true);
        expect(await few.delete(alice, ids[1] as string)).toBe(false);
        expect(await few.add(bob, 'note d')).toMatchObject({ duplicate: false });
        await expect(few.add(bob, 'note f')).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
      });

      it('also of those that come at the same time', async () => {
        const [one, other] = [await rig.memories({ most: 5 }), await rig.memories({ most: 5 })];
        const added = await Promise.allSettled(
          Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? one : other).add(alice, `note ${at}`)),
        );
        expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
        const { memories, counts } = await one.stored(tenant);
        expect([memories.length, counts[0]?.memories]).toEqual([5, 5]);
      });
    });

    describe('are listed and exported a page at a time', () => {
      it('each that the caller may see once, whatever others add and delete meanwhile (property)', async () => {
        const meanwhile = fc.record({
          deletes: fc.array(fc.nat(99), { maxLength: 2 }),
          adds: fc.array(fc.nat(5), { maxLength: 2 }),
          passes: fc.nat(1),
        });
        const script = fc.record({
          kinds: fc.array(fc.nat(5), { minLength: 1, maxLength: 12 }),
          limit: fc.integer({ min: 1, max: 5 }),
          exports: fc.boolean(),
          between: fc.array(meanwhile, { maxLength: 6 }),
        });
        await fc.assert(
          fc.asyncProperty(script, async ({ kinds, limit, exports, between }) => {
            const at = rig.tenant();
            const mars = of(at, 'key:alice', { agentId: 'mars' });
            const visible = new Set<string>();
            const hidden = new Set<string>();
            let count = 0;
            const add = async (kind: number): Promise<void> => {
              count += 1;
              const isSeen = kind < 3;
              const who = kind === 3 ? of(at, 'key:bob') : kind === 4 ? { ...mars, agentId: 'venus' } : mars;
              const layer =
                (['user', 'agent', 'project', 'user', 'agent', 'session'] as const)[kind] ?? 'user';
              const by = kind === 5 ? of(at, 'key:carol') : who;
              (isSeen ? visible : hidden).add(await here.put(by, `memory ${count}`, { layer }));
            };
            for (const kind of kinds) await add(kind);
            const deleted = new Set<string>();
            const start = new Set(visible);
            const seen: string[] = [];
            let after: string | undefined;
            for (let page = 0; ; page++) {
              const { memories, next } = await (exports
                ? there.export(mars, { limit, after })
                : there.list(mars, { limit, after }));
              expect(memories.length).toBeLessThanOrEqual(limit);
              seen.push(...memories.map(({ memory_id }) => memory_id));
              if (next === undefined) break;
              expect(memories).toHaveLength(limit);
              expect([...hidden].filter((id) => next.includes(id))).toEqual([]);
              after = next;
              const { deletes = [], adds = [], passes = 0 } = between[page] ?? {};
              for (const nth of deletes) {
                const id = [...visible][nth % visible.size];
                if (id === undefined || deleted.has(id)) continue;
                deleted.add(id);
                await here.delete({ ...mars, agentId: undefined }, id);
              }
              rig.nowMs += passes;
              for (const kind of adds) await add(kind);
            }
            expect(seen).toHaveLength(new Set(seen).size);
            expect(seen.filter((id) => !visible.has(id))).toEqual([]);
            expect([...start].filter((id) => !deleted.has(id) && !seen.includes(id))).toEqual([]);
          }),
          { numRuns: 30 },
        );
      });

      it('the oldest first, by layer, scope, subject and tags', async () => {
        const texts = ['one', 'two', 'three', 'four'];
        const ids: string[] = [];
        for (const [at, text] of texts.entries()) {
          rig.nowMs += 1;
          const layer = at % 2 === 0 ? ('project' as const) : ('team' as const);
          ids.push(
            await here.put(alice, text, { layer, scope: `s${at}`, subject: text, tags: ['t', `t${at}`] }),
          );
        }
        const listed = async (more: object) => (await there.all(bob, more)).map(({ memory_id }) => memory_id);
        expect(await listed({})).toEqual(ids);
        expect(await listed({ limit: 1 })).toEqual(ids);
        expect(await listed({ layers: ['team'] })).toEqual([ids[1], ids[3]]);
        expect(await listed({ scope: 's2' })).toEqual([ids[2]]);
        expect(await listed({ subject: 'four' })).toEqual([ids[3]]);
        expect(await listed({ tags: ['t', 't1'] })).toEqual([ids[1]]);
        expect(await listed({ tags: ['t1', 't2'] })).toEqual([]);
      });

      it('in pages that are not too large, of however long texts', async () => {
        const ids: string[] = [];
        for (let at = 0; at < 17; at++) ids.push(await here.put(alice, `${at}`.padEnd(32_768, ' x')));
        const { memories, next } = await here.list(alice);
        expect(memories).toHaveLength(15);
        expect((await here.list(alice, { after: next })).memories).toHaveLength(2);
        expect((await here.export(alice)).memories).toHaveLength(15);
      });

      it('also where what fits is behind more of the rest than are read at a time', async () => {
        const first = await here.put(alice, 'the first', { layer: 'project' });
        rig.nowMs += 1;
        const many = Array.from({ length: 1_010 }, (_, at) => ({
          id: `c${at}`,
          content: `copy ${at}`,
          ...(at === 1_005 ? { tags: '["rare"]' } : {}),
        }));
        await here.copies(tenant, first, many);
        expect((await here.all(bob, { tags: ['rare'] })).map(({ memory_id }) => memory_id)).toEqual([
          'c1005',
        ]);
      });

      it.each([
        'x',
        '[]',
        '{}',
        'null',
        '[1]',
        '["1","m"]',
        '[1.5,"m"]',
        '[1,2]',
        '[1e300,"m"]',
        '[1,"a\\u0000b"]',
        '[1,"\\ud800"]',
        '1',
      ])('never from %j, which no page gave', async (after) => {
        await here.put(alice, 'something');
        for (const page of [() => here.list(alice, { after }), () => here.export(alice, { after })])
          await expect(page()).rejects.toMatchObject({
            code: 'REFUSED',
            message: expect.stringContaining('"after"'),
          });
      });
    });

    describe('of two processes are the same', () => {
      const WORDS = ['apple', 'pear', 'plum'];
      const LAYERS = ['user', 'project', 'agent'] as const;
      const word = fc.integer({ min: 1, max: 7 });
      const textOf = (bits: number) => WORDS.filter((_, at) => (bits & (1 << at)) !== 0).join(' ');
      const step = fc.oneof(
        { weight: 3, arbitrary: fc.record({ kind: fc.constant('add'), bits: word, nth: fc.nat(2) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('update'), bits: word, nth: fc.nat(30) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), bits: word, nth: fc.nat(30) }) },
      );

      it('whatever each adds, changes and deletes in turns (property)', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), step), { maxLength: 14 }), async (steps) => {
            const mars = of(rig.tenant(), 'key:alice', { agentId: 'mars' });
            const model = new Map<string, { readonly layer: MemoryLayer; readonly content: string }>();
            const same = (layer: MemoryLayer, content: string) =>
              [...model].find(([, one]) => one.layer === layer && one.content === content)?.[0];
            for (const [by, { kind, bits, nth }] of steps) {
              rig.nowMs += nth % 2;
              const content = textOf(bits);
              const id = [...model.keys()][nth % Math.max(1, model.size)];
              if (kind === 'add') {
                const layer = LAYERS[nth] as MemoryLayer;
                const added = await either(by).add(mars, content, { layer });
                expect(added.duplicate ? added.memory_id : undefined).toBe(same(layer, content));
                model.set(added.memory_id, { layer, content });
              } else if (id !== undefined && kind === 'delete') {
                expect(await either(by).delete(mars, id)).toBe(true);
                model.delete(id);
              } else if (id !== undefined) {
                const { layer } = model.get(id) as { layer: MemoryLayer };
                const known = same(layer, content);
                const changed = either(by).update(mars, id, { content });
                if (known !== undefined && known !== id) await expect(changed).rejects.toThrow('already');
                else {
                  await changed;
                  model.set(id, { layer, content });
                }
              }
              for (const memories of [here, there])
                for (const query of WORDS) {
                  const { results } = await memories.search(mars, query, { limit: 100 });
                  const found = results
                    .map(({ memory_id, content: text }) => `${memory_id} ${text}`)
                    .toSorted();
                  const wanted = [...model].filter(([, { content: text }]) => text.includes(query));
                  expect(found).toEqual(
                    wanted.map(([key, { content: text }]) => `${key} ${text}`).toSorted(),
                  );
                }
            }
          }),
          { numRuns: 25 },
        );
      });

      it('when many write at the same time', async () => {
        await Promise.all(
          Array.from({ length: 30 }, async (_, at) => {
            const id = await either(at).put(alice, `fruit number${at}`);
            if (at % 3 === 0) await either(at + 1).delete(alice, id);
            if (at % 3 === 1) await either(at + 1).update(alice, id, { content: `vegetable number${at}` });
          }),
        );
        for (const memories of [here, there]) {
          expect(await memories.found(alice, 'fruit', { limit: 100 })).toHaveLength(10);
          expect(await memories.found(alice, 'vegetable', { limit: 100 })).toHaveLength(10);
        }
      });
    });

    describe('are held to be found', () => {
      it('of the tenants that were asked for last, and of others read anew, with nothing lost', async () => {
        const few = await rig.memories({ indexed: 5 });
        const carols = ['a', 'b', 'c'].map(() => of(rig.tenant(), 'key:carol'));
        for (const carol of carols) for (const at of [1, 2]) await few.put(carol, `memory number${at}`);
        const indexOf = (at: number) => few.indexes.of((carols[at] as SkillCaller).tenant);
        const [first, second] = [await indexOf(0), await indexOf(1)];
        expect([await indexOf(0), await indexOf(1)]).toEqual([first, second]);
        expect((await indexOf(0)) === first).toBe(true);
        await indexOf(2);
        expect((await indexOf(0)) === first).toBe(true);
        expect((await indexOf(1)) === second).toBe(false);
        for (let round = 0; round < 2; round++)
          for (const carol of carols) expect(await few.found(carol, 'memory')).toHaveLength(2);
      });

      it('also of a tenant that has more than are held', async () => {
        const few = await rig.memories({ indexed: 1 });
        for (let at = 0; at < 5; at++) await few.put(alice, `memory number${at}`);
        await few.put(of(rig.tenant(), 'key:alice'), 'memory');
        expect(await few.found(alice, 'memory')).toHaveLength(5);
      });

      it('in an index that is made anew when much of it is gone', async () => {
        const ids: string[] = [];
        for (let at = 0; at < 70; at++) ids.push(await here.put(alice, `memory number${at}`));
        const before = await here.indexes.of(tenant);
        for (const id of ids.slice(0, 20)) await here.delete(alice, id);
        expect((await here.indexes.of(tenant)) === before).toBe(true);
        expect(before.isWorn).toBe(true);
        const anew = await here.indexes.of(tenant);
        expect([anew === before, anew.isWorn, anew.size]).toEqual([false, false, 50]);
        const found = await here.found(alice, 'memory', { limit: 100 });
        expect(found.toSorted()).toEqual(ids.slice(20).toSorted());
      });

      it('and asked for again after a read that failed, they have everything', async () => {
        await here.put(alice, 'memory one');
        let fails = false;
        const broken: SkillStore = {
          ...there.store,
          read: (of_, run) => (fails ? Promise.reject(new Error('of the test')) : there.store.read(of_, run)),
        };
        const memories = rig.over(broken);
        expect(await memories.found(alice, 'memory')).toHaveLength(1);
        await here.put(alice, 'memory two');
        fails = true;
        await expect(memories.found(alice, 'memory')).rejects.toThrow('of the test');
        fails = false;
        expect(await memories.found(alice, 'memory')).toHaveLength(2);
      });
    });
  });
}
