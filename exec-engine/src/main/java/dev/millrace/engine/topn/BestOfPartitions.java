package dev.millrace.engine.topn;

import dev.millrace.engine.state.GroupTable;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The first rows of each partition in their order, and those that others pushed out since they were emitted. A row is known
 * by a place, a word that says where it is and under which rank it was emitted.
 */
interface BestOfPartitions {
    GroupTable table();

    /** How many rows a partition has. */
    int count(long partition);

    /** Brings the rows of a partition in their order, if they are not. */
    void sort(long partition);

    long place(long partition, int i);

    /** The address of the row at a place. */
    long rowAt(long place);

    /** The rank under which the row at a place was emitted last, or 0. */
    int emittedAt(long place);

    void setEmitted(long partition, int i, int rank);

    /** Removes a partition without rows. */
    void remove(long partition);

    /** The rows that left, by the places that they had. */
    LeavingPlaces leaving();

    /** Frees the rows that left; what they were emitted as has been taken back. */
    void freeLeaving();

    /** Writes a partition after {@link #sort}. */
    void write(long partition, DataOutput out) throws IOException;

    /** Writes what a partition is known by. */
    void writeKeys(long partition, DataOutput out) throws IOException;

    /** Adds a partition that {@link #write} wrote, and which is not there. */
    void read(DataInput in) throws IOException;

    /** The same of one that may be there, otherwise. */
    void replace(DataInput in) throws IOException;

    /** Removes the partition with keys that {@link #writeKeys} wrote, and its rows, if it is there. */
    void removeWritten(DataInput in) throws IOException;

    long bytes();

    int size();
}
