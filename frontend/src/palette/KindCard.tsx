import { roleText } from "../canvas/texts";
import type { Kind } from "../graph/catalogue";
import type { Json } from "../graph/document";
import { Chip } from "../ui";
import { KindIcon } from "../ui/KindIcon";
import { t } from "./texts";

function plain(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (value === null) return "null";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  return Object.entries(value)
    .map(([name, part]) => `${name} ${plain(part)}`)
    .join(", ");
}

/** One record as a small chip: its key, then its value. */
function RecordChip({ record }: { record: Json }) {
  if (record === null || typeof record !== "object" || Array.isArray(record)) {
    return <span className="record-chip">{plain(record)}</span>;
  }
  const { key, value, ...rest } = record;
  const known = key !== undefined || value !== undefined;
  return (
    <span className="record-chip" title={JSON.stringify(record)}>
      {known ? (
        <>
          {key === undefined ? null : <b>{plain(key)}</b>}
          {value === undefined ? null : <span>{plain(value)}</span>}
          {Object.keys(rest).length === 0 ? null : <small>{plain(rest)}</small>}
        </>
      ) : (
        plain(record)
      )}
    </span>
  );
}

/** What a kind does, in words and as records before and after. */
export function KindCard({ hue, kind }: { kind: Kind; hue: string }) {
  const example = kind.example ?? null;
  const takes = [...new Set(kind.inputs.flatMap((input) => input.roles))];
  const gives = [...new Set(kind.outputs.map((output) => output.role))];
  return (
    <div className="kind-card" data-hue={hue}>
      <header>
        <KindIcon name={kind.icon} size={18} className="kind-icon" />
        <strong>{kind.title}</strong>
      </header>
      <p>{kind.description}</p>
      {example === null ? null : (
        <div className="kind-picture" role="img" aria-label={`${t("before")} → ${t("after")}`}>
          <div>
            <small>{t("before")}</small>
            {example.before.map((record, index) => (
              <RecordChip key={index} record={record} />
            ))}
          </div>
          <svg width="20" height="12" viewBox="0 0 20 12" aria-hidden="true">
            <path d="M1 6H18M13.5 1.5 18 6 13.5 10.5" />
          </svg>
          <div>
            <small>{t("after")}</small>
            {example.after.length === 0 ? <span className="m-muted">{t("none")}</span> : null}
            {example.after.map((record, index) => (
              <RecordChip key={index} record={record} />
            ))}
          </div>
        </div>
      )}
      <footer>
        {takes.length === 0 ? null : (
          <Chip>
            {t("needs")} {takes.map(roleText).join(" / ")}
          </Chip>
        )}
        {gives.length === 0 ? null : (
          <Chip>
            {t("gives")}{" "}
            {gives.map((role) => (role === "same" ? t("same") : roleText(role))).join(" / ")}
          </Chip>
        )}
        {kind.stateful ? <Chip>{t("keepsState")}</Chip> : null}
        {kind.changes_key ? <Chip>{t("changesKey")}</Chip> : null}
      </footer>
    </div>
  );
}
