import { useComments } from "../designer/comments";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { t } from "../ui/i18n";

/** The number of open comments on a node, at its corner; opens them. */
export function CommentBadge({ node }: { node: string }) {
  const n = useComments((state) => state.open[node] ?? 0);
  if (n === 0) return null;
  const label = t("{n} open {n, plural, one {comment} other {comments}}", { n });
  return (
    <button
      type="button"
      className="node-comments m-figures nodrag"
      title={label}
      aria-label={label}
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation();
        useDesigner.getState().select({ nodes: [node] });
        useView.getState().openBottom("comments");
      }}
    >
      {n}
    </button>
  );
}
