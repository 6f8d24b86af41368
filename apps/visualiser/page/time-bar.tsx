import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { sinceStart } from '../model/durations.ts';
import { Icon } from './icon.tsx';
import { usePage } from './page-context.ts';

const SPEEDS = [0.1, 0.5, 1, 2, 5, 10, 50, 100] as const;

/** Goes back and forth over what was recorded; the whole page shows the moment that it stands at. */
export function TimeBar(): JSX.Element | null {
  const { state } = usePage();
  const { look, isPlaying } = state;
  if (look === undefined) return null;
  const { clock, source } = look;
  const at = sinceStart(clock.atMs, clock.startedAtMs);
  const mode = isPlaying
    ? 'playing'
    : clock.isFollowing
      ? source.kind === 'live'
        ? 'live'
        : 'at the end'
      : 'paused';
  const share =
    clock.length === clock.first ? 1 : (clock.position - clock.first) / (clock.length - clock.first);
  return (
    <section class="time-bar" aria-label="Time">
      <button type="button" title="Back to what happened before" onClick={() => void state.step(-1)}>
        <Icon name="previous" />
        <span class="unseen">Step back</span>
      </button>
      <button type="button" class="play" onClick={() => (isPlaying ? state.pause() : state.play())}>
        <Icon name={isPlaying ? 'pause' : 'play'} />
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <button type="button" title="On to what happened next" onClick={() => void state.step(1)}>
        <Icon name="next" />
        <span class="unseen">Step forward</span>
      </button>
      <label>
        <span class="unseen">Speed</span>
        <select
          value={String(state.speed)}
          onChange={(event) => state.setSpeed(Number(event.currentTarget.value))}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)}>
              {speed}×
            </option>
          ))}
        </select>
      </label>
      <div class="scrub">
        <Density counts={clock.density} />
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={`${at}, ${clock.position} of ${clock.length} events`}
          min={clock.first}
          max={clock.length}
          step={1}
          value={clock.position}
          style={{ '--share': share }}
          onInput={(event) => state.holdAt(Number(event.currentTarget.value))}
          onKeyDown={(event) => {
            if (event.key !== ' ') return;
            event.preventDefault();
            if (isPlaying) state.pause();
            else state.play();
          }}
        />
      </div>
      <output class="number moment" data-position={clock.position}>
        {at} <span class="quiet">{`${clock.position} of ${clock.length}`}</span>
      </output>
      <span class={`mode ${mode.replaceAll(' ', '-')}`}>{mode}</span>
      {clock.isFollowing ? null : (
        <button type="button" onClick={() => state.follow()}>
          {source.kind === 'live' ? 'Follow live' : 'To the end'}
        </button>
      )}
    </section>
  );
}

/** How much happened when; it is drawn anew only when it is another. */
function Density({ counts }: { readonly counts: readonly number[] }): JSX.Element {
  const key = counts.join();
  return useMemo(() => {
    const most = Math.sqrt(Math.max(1, ...counts));
    const bars = counts.map((count, at) => {
      const height = count === 0 ? 0 : Math.max(1.5, (Math.sqrt(count) / most) * 18);
      return `M${at} 20v-${height.toFixed(1)}h1V20z`;
    });
    return (
      <svg viewBox={`0 0 ${counts.length} 20`} preserveAspectRatio="none" aria-hidden="true">
        <path d={bars.join('')} />
      </svg>
    );
  }, [key]);
}
