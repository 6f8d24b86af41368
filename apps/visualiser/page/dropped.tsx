import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { usePage } from './page-context.ts';

/** The page, on which a trace can be dropped anywhere. */
export function Dropped({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const { state } = usePage();
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      setIsOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setIsOver(false);
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      setIsOver(false);
      const [file] = event.dataTransfer?.files ?? [];
      if (file !== undefined) void state.openTrace(file);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, [state]);
  return (
    <>
      {children}
      {isOver ? (
        <div class="drop" aria-hidden="true">
          Drop the trace to open it
        </div>
      ) : null}
    </>
  );
}
