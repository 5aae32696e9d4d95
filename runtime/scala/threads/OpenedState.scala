package org.apache.spark.sql.execution.streaming.state

import java.util.UUID

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.{
  TransformWithStateExec,
  TransformWithStateExecBase
}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{
  ImplicitGroupingKeyTracker,
  StatefulProcessorHandleImpl
}
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TimeMode}
import org.apache.spark.sql.types.StructType

/**
 * The state of one task in a checkpoint of Spark, written by a thread outside of Spark's tasks: the same versions and
 * ids, in the same files, as those of micro-batches. `exec`: the operator in the plan of the query's last micro-batch.
 */
private[sql] final class OpenedState(
    exec: TransformWithStateExec,
    run: UUID,
    partition: Int,
    salt: Int,
    conf: StateStoreConf,
    hadoop: Configuration
) {
  private val info = exec.getStateInfo
  val operator: Long = info.operatorId
  private val id =
    StateStoreProviderId(
      StateStoreId(info.checkpointLocation, operator, partition, StateStoreId.DEFAULT_STORE_NAME),
      run
    )
  private val keySchema = OpenedState.keySchema(exec)
  private var opened: RocksDBStateStoreProvider = _
  private var store: StateStore = _
  private var map: MapState[InternalRow, InternalRow] = _

  /** Opens a version, whose changes are the next version's. `ckpt`: its id. */
  def begin(version: Long, ckpt: Option[String]): Unit =
    if (opened != null) store = opened.getStore(version, ckpt, false, false)
    else {
      store = StateStore.get(
        id,
        keySchema,
        OpenedState.valueSchema(exec),
        NoPrefixKeyStateEncoderSpec(keySchema),
        version,
        ckpt,
        info.stateSchemaMetadata,
        true,
        conf,
        hadoop,
        false
      )
      opened = store.asInstanceOf[RocksDBStateStoreProvider#RocksDBStateStore].creatingProvider
    }

  /** What has opened it. */
  def provider: RocksDBStateStoreProvider = opened

  /** The map state of the task, of this version. The calling thread works on this task until it asks for another. */
  def mapState(
      open: StatefulProcessorHandle => MapState[InternalRow, InternalRow]
  ): MapState[InternalRow, InternalRow] = {
    ImplicitGroupingKeyTracker.setImplicitKey(salt)
    if (map == null)
      map = open(
        new StatefulProcessorHandleImpl(
          store,
          run,
          exec.keyEncoder,
          TimeMode.None(),
          true,
          None,
          None,
          exec.metrics,
          None
        )
      )
    else RocksDBAccess.move(map, store)
    map
  }

  /** Writes the changes, and returns the id of the new version. */
  def commit(): String = {
    store.commit()
    store.getStateStoreCheckpointInfo().stateStoreCkptId.get
  }

  /** Gives up the changes that are not written. */
  def abort(): Unit = if (store != null && !store.hasCommitted) store.abort()
  def close(): Unit = if (opened != null) { StateStore.removeFromLoadedProvidersAndClose(id); opened = null }
}

private[sql] object OpenedState {
  private def schemaOf(in: Class[_], name: String): TransformWithStateExec => StructType = {
    val m = in.getDeclaredMethod(name)
    m.setAccessible(true)
    exec => m.invoke(exec).asInstanceOf[StructType]
  }
  private val keySchema = schemaOf(classOf[TransformWithStateExec], "stateKeySchema")
  private val valueSchema = schemaOf(classOf[TransformWithStateExecBase], "DUMMY_VALUE_ROW_SCHEMA")

  /** Ends what a run has opened: Spark's maintenance no longer looks after it. */
  def forget(session: classic.SparkSession, run: UUID): Unit =
    session.streams.stateStoreCoordinator.deactivateInstances(run)
}
