/** Whether the canvas has drawn the topology, so that what is beside it can be drawn without delaying that. */

import { startTransition, useEffect, useState } from "react";
import { create } from "zustand";

const useFirstPicture = create<{ drawn: boolean }>()(() => ({ drawn: false }));

/** Reports that the canvas will have been drawn after the next frame; returns a function that takes this back. */
export function reportPicture(): () => void {
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(() => useFirstPicture.setState({ drawn: true }));
  });
  return () => {
    cancelAnimationFrame(frame);
    useFirstPicture.setState({ drawn: false });
  };
}

/** Whether the first picture is there. Once it is, what depends on this is rendered between other work. */
export function useAfterPicture(): boolean {
  const [after, setAfter] = useState(() => useFirstPicture.getState().drawn);
  useEffect(() => {
    const look = ({ drawn }: { drawn: boolean }) => {
      if (drawn) startTransition(() => setAfter(true));
    };
    look(useFirstPicture.getState());
    return useFirstPicture.subscribe(look);
  }, []);
  return after;
}
