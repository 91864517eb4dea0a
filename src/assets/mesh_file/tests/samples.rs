//! The same tetrahedron in every format, among things to be skipped.

pub const GMSH_22: &str = "\
// a comment outside the sections
$MeshFormat
2.2 0 8
$EndMeshFormat
$Comments
$Nodes is only talk
$EndComments
$PhysicalNames
1
3 7 \"skin and $bone\"
$EndPhysicalNames
$Nodes
6
40 0 0 1.0D-3
7 0 0 0
99 5 5 5
20 1e-3 0 0
30 0 1d-3 0
8 9 9 9
$EndNodes
$Elements
3
1 15 2 0 1 7
2 2 2 0 1 7 20 30
12 4 3 -1 7 1 7 20 30 40
$EndElements
$NodeData
1
\"t\"
$EndNodeData
";

pub const GMSH_41: &str = "\
$MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
0 0 0 1
$EndEntities
$Nodes
2 5 1 50
2 1 1 3
40
7
8
0 0 1.0D-3 0.5 0.25
0 0 0 0.5 0.25
9 9 9 0.5 0.25
3 -1 0 2
20
30
1e-3 0 0
0 1d-3 0
$EndNodes
$Periodic
0
$EndPeriodic
$Elements
2 2 1 12
2 1 2 1
1 7 20 30
3 1 4 1
12 7 20 30 40
$EndElements
";

pub const VTK: &str = "\
# vtk DataFile Version 3.0

ASCII
DATASET unstructured_grid
FIELD FieldData 2
Time 1 1 double
0.5
METADATA
INFORMATION 0

Name 1 1 string
hand
POINTS 6 double
0 0 1.0D-3 0 0 0 5 5
5 1e-3 0 0
0 1d-3 0 9 9 9
METADATA
INFORMATION 1
NAME of the thing

CELLS 2 9
3 1 3 4 4 1
3 4 0
CELL_TYPES 2
5
10
POINT_DATA 6
SCALARS t float 1
";

pub const VTK_51: &str = "\
# vtk DataFile Version 5.1
title POINTS
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 6 double
0 0 1e-3 0 0 0 5 5 5 1e-3 0 0 0 1e-3 0 9 9 9
CELLS 3 7
OFFSETS vtktypeint64
0 3 7
CONNECTIVITY vtktypeint64
1 3 4
1 3 4 0
CELL_TYPES 2
5 10
";

pub const FILES: [&str; 4] = [GMSH_22, GMSH_41, VTK, VTK_51];
