import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Window } from '../worker/look.ts';

/** Rows that are made beyond what is in sight, so that one does not scroll into nothing. */
const BEYOND = 12;

/** Which rows of a list are in sight; `box` is what scrolls. */
export function useWindow(rowHeight: number): {
  readonly window: Window;
  readonly box: { current: HTMLDivElement | null };
} {
  const box = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState<Window>({ first: 0, count: 60 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => {
      const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - BEYOND);
      const count = Math.ceil(element.clientHeight / rowHeight) + 2 * BEYOND;
      // In steps: each change is a question to the recorder.
      const even = first - (first % 4);
      setWindow((before) =>
        before.first === even && before.count === count ? before : { first: even, count },
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [rowHeight]);
  return { window, box };
}

/** A long list or table of which only the rows in sight are there. */
export function Windowed({
  box,
  first,
  total,
  rowHeight,
  label,
  as,
  className = '',
  head,
  children,
}: {
  readonly box: { current: HTMLDivElement | null };
  readonly first: number;
  readonly total: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly as: 'table' | 'list';
  readonly className?: string;
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  const about = {
    'aria-label': label,
    ...(as === 'table'
      ? ({ role: 'table', 'aria-rowcount': total + 1 } as const)
      : ({ role: 'region' } as const)),
  };
  return (
    <div class={`scroll ${className}`} ref={box} tabIndex={0} {...about}>
      {head}
      <div
        role={as === 'table' ? 'rowgroup' : 'list'}
        style={{ blockSize: `${total * rowHeight}px`, position: 'relative' }}
      >
        <div role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {children}
        </div>
      </div>
    </div>
  );
}
