import { ActionIcon, Menu } from "@mantine/core";
import IconCopy from "@tabler/icons-react/dist/esm/icons/IconCopy.mjs";
import IconDots from "@tabler/icons-react/dist/esm/icons/IconDots.mjs";
import IconDownload from "@tabler/icons-react/dist/esm/icons/IconDownload.mjs";
import IconTrash from "@tabler/icons-react/dist/esm/icons/IconTrash.mjs";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { createTopology, getDraft } from "../api/topologyCalls";
import type { TopologySummary } from "../api/types";
import { inOrder, named, nameOf } from "../deployments/environments";
import { notifyError } from "../frame/notify";
import { freeName } from "../learn/names";
import { StatePill } from "../live/StatePill";
import { save } from "../ui/files";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

interface TopologyRowProps {
  ws: string;
  topology: TopologySummary;
  editor: boolean;
  onDelete: () => void;
}

export function TopologyRow({ ws, topology, editor, onDelete }: TopologyRowProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const to = `/w/${ws}/t/${topology.id}`;

  const duplicate = async () => {
    try {
      const { document } = await getDraft(topology.id);
      const name = await freeName(ws, t("{name} copy", { name: topology.name }));
      const made = await createTopology(ws, { name, document: { ...document, name } });
      await queries.invalidateQueries({ queryKey: ["topologies", ws] });
      void navigate(`/w/${ws}/t/${made.id}`);
    } catch (error) {
      notifyError(error, t("Could not duplicate"));
    }
  };
  const download = async () => {
    try {
      const { document } = await getDraft(topology.id);
      save(`${topology.name}.json`, `${JSON.stringify(document, null, 2)}\n`, "application/json");
    } catch (error) {
      notifyError(error, t("Could not export"));
    }
  };

  return (
    <tr className={classes.row} data-testid={`topology-${topology.id}`}>
      <td>
        <Link to={to} className={classes.rowLink}>
          <span className={classes.rowName} title={topology.name}>
            {topology.name}
          </span>
          {topology.description === "" ? null : (
            <span className={classes.rowNote} title={topology.description}>
              {topology.description}
            </span>
          )}
        </Link>
      </td>
      <td className={classes.stateColumn}>
        {topology.deployment === null ? (
          <span className={classes.faint}>{t("not deployed")}</span>
        ) : named(topology.deployments) ? (
          <ul className={classes.states}>
            {inOrder(topology.deployments, (each) => each.environment).map((each) => (
              <li key={each.id}>
                <Link to={`${to}?deployment=${each.id}`} className={classes.link}>
                  {nameOf(each.environment)}
                </Link>
                <StatePill state={each.observed} version={each.version} />
              </li>
            ))}
          </ul>
        ) : (
          <StatePill state={topology.deployment.observed} version={topology.deployment.version} />
        )}
      </td>
      <td className={classes.number}>
        {topology.latest_version === null ? (
          <span className={classes.faint}>{t("draft")}</span>
        ) : (
          <>
            {t("v{n}", { n: topology.latest_version })}
            {topology.draft ? (
              <span
                className={classes.draftMark}
                title={t("You have changes that are not saved as a version")}
              >
                {" "}
                {t("+ draft")}
              </span>
            ) : null}
          </>
        )}
      </td>
      <td className={classes.number}>{topology.node_count}</td>
      <td>
        <span title={moment(topology.updated_at)}>{ago(topology.updated_at)}</span>
        {topology.updated_by === null ? null : (
          <span className={classes.faint}> · {topology.updated_by}</span>
        )}
      </td>
      <td className={classes.actions}>
        <Menu position="bottom-end" width={200}>
          <Menu.Target>
            <ActionIcon aria-label={t("Actions for {name}", { name: topology.name })}>
              <IconDots size={16} stroke={1.5} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {editor ? (
              <Menu.Item
                leftSection={<IconCopy size={16} stroke={1.5} />}
                onClick={() => void duplicate()}
              >
                {t("Duplicate")}
              </Menu.Item>
            ) : null}
            <Menu.Item
              leftSection={<IconDownload size={16} stroke={1.5} />}
              onClick={() => void download()}
            >
              {t("Export document")}
            </Menu.Item>
            {editor ? (
              <>
                <Menu.Divider />
                <Menu.Item
                  color="red"
                  leftSection={<IconTrash size={16} stroke={1.5} />}
                  onClick={onDelete}
                >
                  {t("Delete…")}
                </Menu.Item>
              </>
            ) : null}
          </Menu.Dropdown>
        </Menu>
      </td>
    </tr>
  );
}
