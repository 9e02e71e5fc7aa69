package dev.millrace.engine.relation;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Source;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The named things a plan's {@code Scan} may read. The output of a standing query is one more, under the query's name.
 * Names are unique among all of them, case-sensitive. Safe on any thread.
 */
public interface Relations {
    /**
     * A stream whose rows a connector reads. A replayable source gets readers of its own for each standing query and
     * each pull query; of a live one a single reader set, opened now, feeds all queries from when they start.
     *
     * @throws dev.millrace.error.MillraceException when the name is taken or a live source cannot be opened
     */
    void addSource(String name, Source source, OnError onError);

    /** An append-only stream fed by {@link WritableRelation#append}; a query sees what is appended after its start. */
    default WritableRelation addStream(String name, Schema schema) {
        return addStream(name, schema, 0);
    }

    /** @param number by which the engine's journal knows it; 0 if nothing of it is written down */
    default WritableRelation addStream(String name, Schema schema, long number) {
        return addStream(name, schema, number, Optional.empty());
    }

    /** @param past reads what was appended so far, to its end, for queries that come to an end; empty for one that keeps no rows */
    WritableRelation addStream(String name, Schema schema, long number, Optional<Source> past);

    /**
     * A stream like those of {@link #addStream}, fed by somebody who makes rows of records.
     *
     * @param onError what becomes of records that become no rows; not {@link OnError#FAIL}, as no query meets them
     */
    FedRelation addPushed(String name, Schema schema, long number, Optional<Source> past, OnError onError);

    /** A relation that keeps its rows; a query starts with all of them and continues with the changes. */
    default WritableRelation addTable(String name, Schema schema) {
        return addTable(name, schema, 0);
    }

    /** @param number by which the engine's journal knows it; 0 if nothing of it is written down */
    WritableRelation addTable(String name, Schema schema, long number);

    /**
     * A table like those of {@link #addTable}, fed by somebody who makes changes of records.
     *
     * @param onError what becomes of records that become no change
     */
    FedRelation addFedTable(String name, Schema schema, long number, OnError onError);

    /**
     * Gives a table other columns, and all its rows with them. Queries that read it go on and are told of no change: they must
     * not read columns that are gone or others now, and new ones come behind the old. Nobody may append meanwhile, and all
     * that was appended must be visible.
     *
     * @param rows stay the caller's
     * @param number by which the journal knows the table from now on, with an entry of these rows; 0 for none
     */
    AlteredTable alterTable(String name, Schema schema, List<Batch> rows, long number);

    /** The same of a table of which nothing is written down, for good. */
    default void alterTable(String name, Schema schema, List<Batch> rows) {
        alterTable(name, schema, rows, 0).keep();
    }

    /** Gives a relation that is no query another name, which is free. Queries that read it go on; none of them is to begin anew under that name. */
    void rename(String name, String newName);

    /**
     * Forgets a relation added here and frees what it holds.
     *
     * @throws dev.millrace.error.MillraceException naming the queries that still read it (2BP01), or that there is none
     */
    void drop(String name);

    /** The columns of a relation or of a query's output. */
    Schema schema(String name);

    /**
     * How many different rows a table or the answer of a query has now; empty where rows are not kept and where there is no
     * relation of the name. Costs nothing.
     */
    OptionalLong rows(String name);

    /**
     * How many rows came so far through a relation that keeps none: since it was added, to whoever read it; 0 of a source
     * that each reader reads by itself. Empty where rows are kept and where there is no relation of the name. Costs nothing.
     */
    OptionalLong rowsSoFar(String name);

    /** The stream or table of this name, to append to. */
    WritableRelation writable(String name);

    /** Has the stream or table of a name accept rows, see {@link WritableRelation#accept}. Takes the batches over, also when it throws as there is none. */
    default Accepted accept(String name, List<Batch> batches) {
        WritableRelation relation;
        try {
            relation = writable(name);
        } catch (RuntimeException | Error e) {
            Closing.all(batches);
            throw e;
        }
        return relation.accept(batches);
    }

    /** Standing queries that read the relation, by name. */
    List<String> readers(String name);

    /** What was rejected so far of the records that a relation is made of; nothing for one that is made of none. */
    RejectedRecords rejected(String name);
}
