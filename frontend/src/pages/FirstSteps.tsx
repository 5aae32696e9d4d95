import { Button } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import { TemplatePicture } from "../learn/TemplatePicture";
import { textsOf, useTemplates } from "../learn/templates";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

/** Shown in place of an empty list: what a topology is, and two ways to create the first one. */
export function FirstSteps(props: { editor: boolean; onCreate: (template?: string) => void }) {
  const templates = useTemplates();
  return (
    <section className={classes.first}>
      <div className={classes.firstPicture} aria-hidden>
        <Picture />
      </div>
      <h2>{t("Draw your first topology")}</h2>
      <p>
        {t({
          id: "pages.topology_reads_records_from_kafka",
          message:
            "A topology reads records from Kafka topics, processes them node by node and writes the results to topics. Draw it on the canvas; Millrace checks it as you draw, compiles it to PySpark and runs it.",
        })}
      </p>
      {props.editor ? (
        <div className={classes.firstActions}>
          <Button
            variant="filled"
            leftSection={<IconPlus size={16} stroke={1.5} />}
            onClick={() => props.onCreate()}
            data-testid="empty-canvas"
          >
            {t("Start with an empty canvas")}
          </Button>
        </div>
      ) : (
        <p>
          {t({
            id: "pages.you_have_read_access",
            message:
              "You have read access. Ask an administrator for the editor role to make changes.",
          })}
        </p>
      )}
      {props.editor ? (
        <div className={classes.firstTemplates}>
          {templates.map((template) => (
            <button
              key={template.id}
              type="button"
              className={classes.template}
              onClick={() => props.onCreate(template.id)}
            >
              <span className={classes.templatePicture}>
                <TemplatePicture template={template} />
              </span>
              <span>
                <span className={classes.choiceTitle}>
                  {t("Start from {template}", { template: textsOf(template).title })}
                </span>
                <span className={classes.choiceAbout}>{textsOf(template).description}</span>
              </span>
            </button>
          ))}
        </div>
      ) : null}
    </section>
  );
}

function Picture() {
  const boxes = [
    [0, 22, "var(--m-hue-source)"],
    [104, 22, "var(--m-hue-stateless)"],
    [208, 22, "var(--m-hue-aggregation)"],
    [312, 22, "var(--m-hue-sink)"],
  ] as const;
  return (
    <svg width="400" height="84" viewBox="-4 0 408 84" role="presentation">
      {[80, 184, 288].map((x) => (
        <path key={x} d={`M${x} 38h24`} stroke="var(--m-edge)" strokeWidth="1.5" />
      ))}
      {boxes.map(([x, y, hue]) => (
        <g key={x}>
          <rect
            x={x}
            y={y}
            width="80"
            height="32"
            rx="4"
            fill="var(--m-panel)"
            stroke="var(--m-line-strong)"
          />
          <rect x={x} y={y} width="3" height="32" fill={hue} />
          <rect x={x + 12} y={y + 9} width="38" height="4" rx="2" fill="var(--m-line-strong)" />
          <rect x={x + 12} y={y + 19} width="54" height="4" rx="2" fill="var(--m-line)" />
        </g>
      ))}
      <path d="M248 54v10" stroke="var(--m-hue-store)" strokeDasharray="2 3" strokeWidth="1.5" />
      <ellipse cx="248" cy="68" rx="18" ry="4" fill="var(--m-panel)" stroke="var(--m-hue-store)" />
      <path d="M230 68v8c0 5 36 5 36 0v-8" fill="none" stroke="var(--m-hue-store)" />
    </svg>
  );
}
