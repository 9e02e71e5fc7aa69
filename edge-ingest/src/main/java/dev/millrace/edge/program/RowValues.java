package dev.millrace.edge.program;

/** The rows that are asked about, by columns. A value is asked for only where it is not NULL, and as what the column is. */
public interface RowValues {
    boolean isNull(int column, int row);

    boolean truth(int column, int row);

    long whole(int column, int row);

    double number(int column, int row);

    String text(int column, int row);
}
