"""pandas' to_sql and read_sql, and Alembic's comparison and operations, over SQLAlchemy and psycopg."""
import sys

import pandas
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.exc import IntegrityError
from sqlalchemy import Column, DateTime, Index, Integer, MetaData, Numeric, String, Table, Text, create_engine, func, inspect

engine = create_engine(sys.argv[1])


def check(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


# pandas, with its index, which becomes a column with an index of the table.
frame = pandas.DataFrame({
    "count": [1, 2, 3],
    "name": ["x", "y", None],
    "share": [1.5, None, 2.5],
    "day": pandas.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])})
frame.to_sql("frame", engine)
frame.to_sql("frame", engine, if_exists="append")
check(pandas.read_sql("SELECT * FROM frame", engine).shape, (6, 5))
check([index["column_names"] for index in inspect(engine).get_indexes("frame")], [["index"]])
frame.to_sql("frame", engine, if_exists="replace", index=False, method="multi")
read = pandas.read_sql_table("frame", engine)
check(list(read.columns), ["count", "name", "share", "day"])
check(read["count"].tolist(), [1, 2, 3])
check(str(read["day"].dtype).startswith("datetime64"), True)

# What SQLAlchemy makes is what it reads, and Alembic finds no difference.
metadata = MetaData()
parts = Table(
    "parts", metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(20), nullable=False, unique=True),
    Column("price", Numeric(10, 2), server_default="1.5"),
    Column("at", DateTime(timezone=True), server_default=func.now()),
    Index("parts_price", "price", "at"))
metadata.create_all(engine)


def context(connection):
    return MigrationContext.configure(connection, opts={
        "compare_type": True,
        "include_name": lambda name, kind, parents: kind != "table" or name == "parts"})


def differences():
    with engine.connect() as connection:
        return compare_metadata(context(connection), metadata)


check(differences(), [])
check({index["name"]: index["column_names"] for index in inspect(engine).get_indexes("parts")},
      {"parts_price": ["price", "at"], "parts_name_key": ["name"]})

with engine.begin() as connection:
    operations = Operations(context(connection))
    operations.add_column("parts", Column("note", Text))
    operations.create_index("parts_note", "parts", ["note"])
check(sorted(difference[0] for difference in differences()), ["remove_column", "remove_index"])
with engine.begin() as connection:
    operations = Operations(context(connection))
    operations.drop_index("parts_note", table_name="parts")
    operations.drop_column("parts", "note")
    operations.create_unique_constraint("parts_once", "parts", ["price", "at"])
    operations.drop_constraint("parts_once", "parts")
    operations.alter_column("parts", "name", type_=String(30), existing_nullable=False)
check([difference[0][0] for difference in differences()], ["modify_type"])

# A migration that fails half-way leaves nothing, and the next one does all of it.
with engine.begin() as connection:
    connection.exec_driver_sql("CREATE TABLE versions (n TEXT PRIMARY KEY)")
    connection.exec_driver_sql("INSERT INTO versions VALUES ('one')")
    connection.exec_driver_sql("INSERT INTO parts (id, name, price) VALUES (1, 'x', 2), (2, 'y', 2)")


def migrate(connection, fails):
    operations = Operations(context(connection))
    operations.add_column("parts", Column("weight", Integer))
    operations.execute("UPDATE parts SET weight = id * 10")
    operations.alter_column("parts", "weight", nullable=False)
    operations.create_table("boxes", Column("id", Integer, primary_key=True), Column("size", Integer))
    operations.bulk_insert(Table("boxes", MetaData(), autoload_with=connection), [{"id": 1, "size": 3}])
    operations.create_index("boxes_size", "boxes", ["size"])
    operations.execute("UPDATE versions SET n = 'two'")
    if fails:
        operations.create_unique_constraint("parts_price", "parts", ["price"])  # which is there twice


try:
    with engine.begin() as connection:
        migrate(connection, True)
    check("an error", "none")
except IntegrityError as error:
    check("parts_price" in str(error), True)
check([difference[0][0] for difference in differences()], ["modify_type"])
check(inspect(engine).has_table("boxes"), False)
check(pandas.read_sql("SELECT n FROM versions", engine)["n"].tolist(), ["one"])
with engine.begin() as connection:
    migrate(connection, False)
check(pandas.read_sql("SELECT weight FROM parts ORDER BY id", engine)["weight"].tolist(), [10, 20])
check(pandas.read_sql("SELECT n, size FROM versions, boxes", engine).values.tolist(), [["two", 3]])
with engine.begin() as connection:
    Operations(context(connection)).drop_table("boxes")
metadata.drop_all(engine)
print("done")
