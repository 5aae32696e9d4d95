import { roleText } from "../designer/words";
import type { Kind } from "../graph/catalog";
import type { Json } from "../graph/document";
import { Chip } from "../ui";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";

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

/** Describes a kind in words and by example records before and after. */
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
        <div
          className="kind-picture"
          role="img"
          aria-label={`${t("Records in")} → ${t("Records out")}`}
        >
          <div>
            <small>{t("Records in")}</small>
            {example.before.map((record, index) => (
              <RecordChip key={index} record={record} />
            ))}
          </div>
          <svg width="20" height="12" viewBox="0 0 20 12" aria-hidden="true">
            <path d="M1 6H18M13.5 1.5 18 6 13.5 10.5" />
          </svg>
          <div>
            <small>{t("Records out")}</small>
            {example.after.length === 0 ? <span className="m-muted">{t("nothing")}</span> : null}
            {example.after.map((record, index) => (
              <RecordChip key={index} record={record} />
            ))}
          </div>
        </div>
      )}
      <footer>
        {takes.length === 0 ? null : (
          <Chip>
            {t("Takes")} {takes.map(roleText).join(" / ")}
          </Chip>
        )}
        {gives.length === 0 ? null : (
          <Chip>
            {t("Gives")}{" "}
            {gives.map((role) => (role === "same" ? t("the same") : roleText(role))).join(" / ")}
          </Chip>
        )}
        {kind.stateful ? <Chip>{t("keeps state")}</Chip> : null}
        {kind.changes_key ? <Chip>{t("changes the key")}</Chip> : null}
      </footer>
    </div>
  );
}
