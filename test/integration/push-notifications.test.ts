import { describe, expect, it, onTestFinished } from 'vitest';
import { SeenNotifications, verifyNotification } from '../../gateway/a2a/server/push/verify-notification.ts';
import { type Answer, PushReceiver } from '../fixtures/push-receiver.ts';
import { rig } from '../fixtures/push-rig.ts';
import { ALICE, BOB } from '../fixtures/pushed-tasks.ts';
import { rejection, until } from '../fixtures/until.ts';

async function receiver(answer?: Answer, port?: number): Promise<PushReceiver> {
  const started = await PushReceiver.start(answer, port === undefined ? {} : { port });
  onTestFinished(() => started.kill());
  return started;
}

const answering =
  (status: number): Answer =>
  (_at, response) =>
    void response.writeHead(status).end();

const generations = ({ posts }: PushReceiver): readonly number[] =>
  posts.map(({ json }) => json.change.generation as number);

const text = (at: number) => ({ artifactId: 'a', parts: [{ text: `${at};` }] });

describe('telling receivers of tasks', () => {
  it('posts every change in its order, in the words of the dialect, with token and credentials', async () => {
    const pushed = await rig();
    const hook = await receiver();
    const { task, turn, end } = await pushed.begin();
    const authentication = { scheme: 'Basic', credentials: 'YWxpY2U6c2VjcmV0' };
    await pushed.service.create(
      ALICE,
      { taskId: task.id, url: hook.url, token: 't0k', authentication },
      { after: 0 },
    );
    turn.working();
    turn.artifact(text(1), { lastChunk: true });
    end({ state: 'completed' });
    const changes = await until('the end', async () => {
      const all = await pushed.changesOf(task.id);
      return all.at(-1)?.kind === 'status' && (all.at(-1) as { state: string }).state === 'completed' && all;
    });
    const posts = await hook.got(changes.length);
    expect(posts.map(({ json }) => json.change)).toEqual(changes);
    expect(posts.map(({ json }) => json.isLast)).toEqual([...changes.slice(1).map(() => false), true]);
    for (const { headers, path, json } of posts) {
      expect(json).toMatchObject({ kind: 'change', taskId: task.id, contextId: task.contextId });
      expect(path).toBe('/hook');
      expect(headers).toMatchObject({
        'content-type': 'application/a2a+json',
        'a2a-version': '1.0',
        'x-a2a-notification-token': 't0k',
        authorization: 'Basic YWxpY2U6c2VjcmV0',
        host: `127.0.0.1:${hook.port}`,
      });
    }
  });

  it('goes on where its store throws, and tells of what that did not keep', async () => {
    const pushed = await rig();
    const hook = await receiver();
    const { task, turn, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    pushed.kept.put = () => {
      throw new Error('no room');
    };
    turn.working();
    expect(await pushed.event('not-kept')).toMatchObject({ taskId: task.id, reason: 'no room' });
    end({ state: 'completed' });
    const { length } = await pushed.changesOf(task.id);
    await hook.got(length - 1);
    await pushed.event('not-kept', 2);
    expect(pushed.service.statuses(ALICE, task.id)).toMatchObject([{ state: 'told' }]);
  });

  it('makes no config that its store throws over', async () => {
    const pushed = await rig();
    const hook = await receiver();
    const { task } = await pushed.begin();
    pushed.kept.put = () => {
      throw new Error('no room');
    };
    const made = pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    await expect(made).rejects.toThrow('no room');
    expect(pushed.service.statuses(ALICE, task.id)).toEqual([]);
  });

  it('tells a receiver of an older dialect of the task as a whole', async () => {
    const pushed = await rig();
    const hook = await receiver();
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url }, { dialect: '0.3' });
    end({ state: 'completed' });
    const [first] = await hook.got(1);
    expect(first?.json).toMatchObject({ whole: { id: task.id, status: { state: 'completed' } } });
    expect(first?.headers).toMatchObject({ 'content-type': 'application/json', 'a2a-version': '0.3' });
  });

  it('shows its signature as a bearer token to who wants one and gives none', async () => {
    const pushed = await rig();
    const hook = await receiver();
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, {
      taskId: task.id,
      url: hook.url,
      authentication: { scheme: 'Bearer' },
    });
    end({ state: 'completed' });
    const [first] = await hook.got(1);
    const signature = first?.headers['x-a2a-notification-signature'];
    expect(first?.headers.authorization).toBe(`Bearer ${String(signature)}`);
  });

  it('signs every attempt anew, so that its receiver can tell it from a replay, and knows what it has had', async () => {
    const pushed = await rig();
    const hook = await receiver((at, response) => void response.writeHead(at < 2 ? 500 : 200).end());
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    end({ state: 'completed' });
    await pushed.retryAfterFailure(1);
    await pushed.retryAfterFailure(2);
    await pushed.event('taken');
    const seen = new SeenNotifications();
    const options = {
      jwks: pushed.signer?.jwks ?? { keys: [] },
      audience: new URL(hook.url).origin,
      clock: pushed.clock,
      seen,
    };
    const ids = new Set<string>();
    for (const { headers, body } of hook.posts) {
      const received = { headers: new Headers(headers as Record<string, string>), body };
      const verified = await verifyNotification(received, options);
      expect(verified).toMatchObject({ taskId: task.id, issuer: 'https://gateway.example' });
      ids.add(verified.notificationId);
      expect((await rejection(verifyNotification(received, options))).code).toBe('UNAUTHENTICATED');
    }
    expect({ posts: hook.posts.length, ids: ids.size }).toEqual({ posts: 3, ids: 1 });
  });

  it('tells from now on, unless it is asked for what was before', async () => {
    const pushed = await rig();
    const [now, all] = [await receiver(), await receiver()];
    const { task, turn, end } = await pushed.begin();
    turn.working();
    await until('two changes', () => pushed.tasks.get(ALICE, task.id).generation >= 3);
    const { generation } = pushed.tasks.get(ALICE, task.id);
    await pushed.service.create(ALICE, { taskId: task.id, url: now.url });
    await pushed.service.create(ALICE, { taskId: task.id, url: all.url }, { after: 0 });
    end({ state: 'completed' });
    await Promise.all([now.got(1), all.got(generation)]);
    expect(generations(now)).toEqual([generation + 1]);
    expect(generations(all).at(-1)).toBe(generation + 1);
  });

  it.each([500, 503, 429, 404, 301, 302, 307, 308])(
    'asks again after %s, longer each time, until it is taken',
    async (status) => {
      const pushed = await rig();
      const hook = await receiver(
        (at, response) =>
          void response.writeHead(at < 3 ? status : 200, { Location: 'http://127.0.0.1:1/' }).end(),
      );
      const { task, end } = await pushed.begin();
      await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
      end({ state: 'completed' });
      const waits: number[] = [];
      for (let count = 1; count <= 3; count++) {
        await pushed.event('failed', count);
        const ms = pushed.clock.nextInMs ?? 0;
        waits.push(ms);
        expect(pushed.service.statuses(ALICE, task.id)).toMatchObject([
          { state: 'waiting', reason: `The receiver answered ${status}` },
        ]);
        await pushed.clock.advanceAsync(ms);
      }
      await pushed.event('taken');
      expect(waits.map((ms) => Math.round(ms / 1_000))).toEqual([1, 2, 4]);
      expect(new Set(generations(hook)).size).toBe(1);
      expect(hook.posts.length).toBe(4);
      expect(pushed.service.statuses(ALICE, task.id)).toMatchObject([{ state: 'told' }]);
      expect(pushed.service.counts).toMatchObject({ taken: 1, failed: 3, gaveUp: 0, configs: 1, waiting: 0 });
    },
  );

  it('waits as long as the receiver wants it to', async () => {
    const pushed = await rig();
    const hook = await receiver(
      (at, response) => void response.writeHead(at === 0 ? 429 : 200, { 'Retry-After': '33' }).end(),
    );
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    end({ state: 'completed' });
    await pushed.event('failed');
    expect(pushed.clock.nextInMs).toBe(33_000);
    await pushed.clock.advanceAsync(33_000);
    await pushed.event('taken');
  });

  it('gives up at once on a receiver that is gone, and says so', async () => {
    const pushed = await rig();
    const hook = await receiver(answering(410));
    const { task, turn, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    turn.working();
    const event = await pushed.event('gave-up');
    end({ state: 'completed' });
    expect(event).toMatchObject({
      taskId: task.id,
      origin: `http://127.0.0.1:${hook.port}`,
      reason: 'The receiver answered 410',
    });
    expect(pushed.service.statuses(ALICE, task.id)).toMatchObject([
      { state: 'gave-up', reason: 'The receiver answered 410' },
    ]);
    await pushed.restart();
    await until('the end', () => pushed.tasks.get(ALICE, task.id).generation > event.generation);
    await pushed.clock.advanceAsync(100_000);
    expect(hook.posts.length).toBe(1);
    expect(pushed.service.statuses(ALICE, task.id)).toMatchObject([{ state: 'gave-up' }]);
  });

  it('gives up after so many attempts, and goes on where it stopped when its owner asks again', async () => {
    const pushed = await rig({ attempts: 3 });
    const hook = await receiver(answering(500));
    const { task, turn, end } = await pushed.begin();
    const { id } = await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    turn.working();
    end({ state: 'completed' });
    await pushed.retryAfterFailure(1);
    await pushed.retryAfterFailure(2);
    const { generation } = await pushed.event('gave-up');
    expect(generations(hook)).toEqual([generation, generation, generation]);
    hook.answer = answering(200);
    expect((await pushed.service.create(ALICE, { taskId: task.id, url: hook.url })).id).toBe(id);
    await until(
      'all of it',
      () =>
        pushed.service.statuses(ALICE, task.id)[0]?.acknowledged ===
        pushed.tasks.get(ALICE, task.id).generation,
    );
    expect(generations(hook).slice(3)[0]).toBe(generation);
  });

  it('gives up on what hangs after its time, however it hangs', async () => {
    const pushed = await rig({ timeoutMs: 5_000, attempts: 2 });
    const silent = await receiver(() => undefined);
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: silent.url });
    end({ state: 'completed' });
    await silent.got(1);
    await pushed.clock.advanceAsync(5_000);
    await pushed.retryAfterFailure(1);
    await silent.got(2);
    await pushed.clock.advanceAsync(5_000);
    expect((await pushed.event('gave-up')).reason).toBe('The receiver did not answer within 5000 ms');
    await until('closed connections', () => silent.open === 0);
  });

  it('reads no more than a little of an endless answer, which counts by its status', async () => {
    const pushed = await rig();
    let written = 0;
    const hook = await receiver((_at, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) written += 16_384;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    end({ state: 'completed' });
    await pushed.event('taken');
    await until('a closed connection', () => hook.open === 0);
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  it('loses nothing and changes no order when the receiver is killed and comes back, again and again', async () => {
    const pushed = await rig();
    // Dies over the third one of each life: it has read it, and nobody learns of that.
    const dying: Answer = (at, response, request) => {
      if (at >= 2) request.socket.destroy();
      else response.writeHead(204).end();
    };
    let hook = await PushReceiver.start(dying);
    const { port } = hook;
    const { task, turn, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url }, { after: 0 });
    const heard: number[] = [];
    const hears = (count: number) =>
      until(`${count} notifications`, async () => {
        await pushed.clock.advanceAsync(1_000);
        return hook.posts.length >= count;
      });
    for (let life = 0; life < 6; life++) {
      for (let at = 0; at < 4; at++) turn.working();
      await hears(3);
      await hook.kill();
      heard.push(...generations(hook));
      hook = await PushReceiver.start(life < 5 ? dying : undefined, { port });
    }
    onTestFinished(() => hook.kill());
    end({ state: 'completed' });
    const last = await until('the end', () => {
      const { status, generation } = pushed.tasks.get(ALICE, task.id);
      return status.state === 'completed' && generation;
    });
    await until('the last one', async () => {
      await pushed.clock.advanceAsync(1_000);
      return generations(hook).at(-1) === last;
    });
    heard.push(...generations(hook));
    const once = heard.filter((generation, at) => heard.indexOf(generation) === at);
    expect(once).toEqual((await pushed.changesOf(task.id)).map(({ generation }) => generation));
    // At least once: what came twice came twice in a row.
    expect(heard.filter((generation, at) => generation !== heard[at - 1])).toEqual(once);
  });

  it('goes on after a restart where the receiver was', async () => {
    const pushed = await rig();
    const hook = await receiver((at, response) => {
      if (at < 2) response.writeHead(204).end();
    });
    const { task, turn } = await pushed.begin();
    const config = await pushed.service.create(
      ALICE,
      { taskId: task.id, url: hook.url, token: 'mine' },
      { after: 0 },
    );
    for (let at = 0; at < 3; at++) turn.working();
    await hook.got(3);
    hook.answer = answering(204);
    await pushed.restart();
    expect(await pushed.service.get(ALICE, { taskId: task.id, id: config.id })).toEqual(config);
    const again = await pushed.turnOf(task.id);
    again.end({ state: 'completed' });
    const last = await until('the end', () => {
      const { status, generation } = pushed.tasks.get(ALICE, task.id);
      return status.state === 'completed' && generation;
    });
    await until('the last one', () => generations(hook).at(-1) === last);
    const heard = generations(hook);
    expect([...new Set(heard)]).toEqual(
      (await pushed.changesOf(task.id)).map(({ generation }) => generation),
    );
    expect(heard.filter((generation) => generation === heard[2]).length).toBe(2);
    expect(heard.length).toBe(new Set(heard).size + 1);
  });

  it('holds nobody up for receivers that are slow or dead', async () => {
    const pushed = await rig({ atOnce: 16, atOnceEach: 2 });
    const slow = await receiver(() => undefined);
    const quick = await receiver();
    const stuck = await Promise.all(Array.from({ length: 12 }, () => pushed.begin(BOB)));
    for (const { task, end } of stuck) {
      await pushed.service.create(BOB, { taskId: task.id, url: slow.url });
      end({ state: 'completed' });
    }
    await slow.got(2);
    const { task, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: quick.url });
    end({ state: 'completed' });
    await quick.got(1);
    expect(slow.posts.length).toBe(2);
    expect(slow.open).toBe(2);
  });

  it('tells a slow receiver of an artifact in few pieces, and keeps it whole', async () => {
    const pushed = await rig();
    const waiting: (() => void)[] = [];
    const hook = await receiver((_at, response) => void waiting.push(() => response.writeHead(204).end()));
    const { task, turn, end } = await pushed.begin();
    await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    const count = 2_000;
    for (let at = 0; at < count; at++)
      turn.artifact(text(at), { append: at > 0, lastChunk: at === count - 1 });
    end({ state: 'completed' });
    await until('the end', () => pushed.tasks.get(ALICE, task.id).status.state === 'completed');
    const { generation } = pushed.tasks.get(ALICE, task.id);
    await until('all of it', () => {
      waiting.shift()?.();
      return pushed.service.statuses(ALICE, task.id)[0]?.acknowledged === generation;
    });
    expect(hook.posts.length).toBeLessThan(10);
    const pieces = hook.posts.flatMap(({ json }) => (json.change.kind === 'artifact' ? [json.change] : []));
    const whole = pieces
      .flatMap(({ artifact }) => artifact.parts.map((part: { text: string }) => part.text))
      .join('');
    expect(whole).toBe(Array.from({ length: count }, (_, at) => `${at};`).join(''));
    expect(pieces.map(({ append }) => append)).toEqual(pieces.map((_, at) => at > 0));
    expect(pieces.at(-1)).toMatchObject({ lastChunk: true });
  });

  it('stops telling when a config is deleted, in mid-delivery too', async () => {
    const pushed = await rig();
    const hook = await receiver(() => undefined);
    const { task, turn } = await pushed.begin();
    const { id } = await pushed.service.create(ALICE, { taskId: task.id, url: hook.url });
    turn.working();
    await hook.got(1);
    await pushed.service.delete(ALICE, { taskId: task.id, id });
    await until('a closed connection', () => hook.open === 0);
    turn.working();
    await pushed.clock.advanceAsync(100_000);
    expect(hook.posts.length).toBe(1);
    expect(pushed.kept.values.size).toBe(0);
    expect((await rejection(pushed.service.get(ALICE, { taskId: task.id, id }))).code).toBe('TASK_NOT_FOUND');
  });
});
